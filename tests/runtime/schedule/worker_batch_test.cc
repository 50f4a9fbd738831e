// Launches as batches of workers, shrunk by their control words.
#include "runtime/schedule/worker_batch.h"

#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

struct WorkerBatchTest : testing::Test {
  explicit WorkerBatchTest(const Capabilities& device = polled_device()) : backend(device) {}

  // A launch of eight groups that has arrived at the machine.
  CommandPtr arrived() {
    auto command = make_launch(client, make_queue(), "k", {.groups = 8, .workers = true});
    command->workers = batches.prepare(*command->launch, *command->queue);
    command->enter(Command::State::arrived);
    DeviceMachine::KernelArrival arrival;
    arrival.footprint = {16, 0, 0, 1};
    arrival.groups = 8;
    arrival.divisible = true;
    command->placement.kernel = machine.arrive(arrival);
    kernels.add(command);
    return command;
  }
  // A batch, counted by the machine as the dispatch does.
  std::shared_ptr<WorkerBatch> run(const CommandPtr& command, std::uint32_t workers) {
    machine.cap({0}, command->placement.kernel, machine.find(command->placement.kernel)->resident + workers);
    machine.dispatch([](policy::KernelId, std::uint32_t) {});
    auto batch = batches.submit(*command, workers);
    EXPECT_EQ(batch.status, status::kSuccess);
    if (command->state() == Command::State::arrived) command->enter(Command::State::submitted);
    events.push_back(batch.event);
    return batch.batch;
  }
  ~WorkerBatchTest() override {
    for (const EventHandle e : events) backend.release(e);
  }
  [[nodiscard]] std::uint32_t resident(const CommandPtr& command) const {
    return machine.find(command->placement.kernel)->resident;
  }

  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
  FakeBackend backend;
  DeviceMachine machine{backend.limits(), 1, false};
  ActiveKernels kernels;
  WorkerBatches batches{backend, machine, kernels};
  std::vector<EventHandle> events;
};
struct SingleWorkerTest : WorkerBatchTest {
  SingleWorkerTest() : WorkerBatchTest(callback_device()) {}
};

TEST_F(WorkerBatchTest, OnlyLaunchesOfSeveralEqualGroupsAreDivided) {
  const auto prepared = [this](const CommandPtr& launch) { return batches.prepare(*launch->launch, *launch->queue); };
  EXPECT_NE(prepared(make_launch(client, make_queue(), "k", {.groups = 2, .workers = true})), nullptr);
  EXPECT_EQ(prepared(make_launch(client, make_queue(), "k", {.groups = 1, .workers = true})), nullptr);
  EXPECT_EQ(prepared(make_launch(client, make_queue(), "k", {.groups = 8})), nullptr);
  const auto uneven = make_launch(client, make_queue(), "k", {.groups = 8, .workers = true});
  uneven->launch->global[0] += 1;
  EXPECT_EQ(prepared(uneven), nullptr);
}

TEST_F(WorkerBatchTest, ABatchIsOneLaunchAndLaterOnesHaveQueuesOfTheirOwn) {
  const auto command = arrived();
  EXPECT_EQ(batches.workers_per_batch(3), 3U);
  const auto first = run(command, 3), second = run(command, 1);
  EXPECT_EQ(backend.log(), "k*3 k*1");
  EXPECT_EQ(backend.submitted[0].queue, command->queue->handle.get());
  EXPECT_FALSE(first->extra_queue);
  ASSERT_TRUE(second->extra_queue);
  EXPECT_EQ(backend.submitted[1].queue, second->extra_queue.get());
}

TEST_F(WorkerBatchTest, TheYoungestWorkersLeaveFirst) {
  const auto command = arrived();
  const auto old = run(command, 2), young = run(command, 2);
  machine.cap({0}, command->placement.kernel, 1);
  batches.shrink_to_caps();
  EXPECT_EQ(young->control->get(), 0U);
  EXPECT_EQ(old->control->get(), 1U);
  EXPECT_EQ(resident(command), 1U) << "their room counts as free at once";
}

TEST_F(WorkerBatchTest, WorkersThatWereNotToldToLeaveHaveDoneAll) {
  const auto command = arrived();
  const auto batch = run(command, 2);
  EXPECT_TRUE(batches.completed(*command, batch, status::kComplete));
  EXPECT_TRUE(command->workers->exhausted);
}

TEST_F(WorkerBatchTest, AShrunkBatchLeavesTheRestToOthers) {
  const auto command = arrived();
  const auto batch = run(command, 2);
  machine.cap({0}, command->placement.kernel, 0);
  batches.shrink_to_caps();
  backend.queue_words[0].lock()->value = 5;  // five of eight groups
  EXPECT_FALSE(batches.completed(*command, batch, status::kComplete));
  const auto again = run(command, 1);
  backend.queue_words[0].lock()->value = 8;
  EXPECT_TRUE(batches.completed(*command, again, status::kComplete));
}

TEST_F(WorkerBatchTest, AFailureEndsTheLaunch) {
  const auto command = arrived();
  const auto batch = run(command, 2);
  EXPECT_TRUE(batches.completed(*command, batch, -5));
  EXPECT_EQ(command->status, -5);
}

TEST_F(WorkerBatchTest, AQueueOfABatchThatHasLeftIsUsedAgain) {
  const auto command = arrived();
  run(command, 1);
  const auto second = run(command, 1);
  const QueueObject* extra = second->extra_queue.get();
  second->state = WorkerBatch::State::shrunk;
  EXPECT_FALSE(batches.completed(*command, second, status::kComplete));
  EXPECT_EQ(run(command, 1)->extra_queue.get(), extra);
}

TEST_F(SingleWorkerTest, WorkersKeepTheirPlaceUntilTheyHaveLeft) {
  const auto command = arrived();
  EXPECT_EQ(batches.workers_per_batch(3), 1U);
  const auto a = run(command, 1), b = run(command, 1);
  machine.cap({0}, command->placement.kernel, 1);
  batches.shrink_to_caps();
  EXPECT_EQ(a->control->get(), ~0U) << "the oldest stay";
  EXPECT_EQ(b->control->get(), 0U);
  EXPECT_EQ(resident(command), 2U);
  EXPECT_FALSE(batches.completed(*command, b, status::kComplete));
  EXPECT_EQ(resident(command), 1U);
}

TEST_F(SingleWorkerTest, AWorkerThatHasNotLeftMayBeToldToStay) {
  const auto command = arrived();
  run(command, 1);
  const auto b = run(command, 1);
  batches.keep(*command, 1);
  EXPECT_EQ(b->state, WorkerBatch::State::leaving);
  batches.keep(*command, 2);
  EXPECT_EQ(b->state, WorkerBatch::State::running);
  EXPECT_EQ(b->control->get(), 1U);
}

TEST_F(SingleWorkerTest, WorkersOfAClientThatHasGoneAreCancelled) {
  const auto command = arrived();
  const auto batch = run(command, 1);
  batches.cancel(*command);
  EXPECT_EQ(batch->control->get(), 0U);
  EXPECT_TRUE(batches.completed(*command, batch, status::kComplete));
}

}  // namespace
}  // namespace wm::runtime::test
