// Launches as workers with limits by SM: their tables, counters and queues.
#include "runtime/schedule/sm_workers.h"

#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

struct SmWorkersTest : testing::Test {
  ~SmWorkersTest() override {
    for (const EventHandle e : events) backend.release(e);
  }
  // A launch of 4 x 3 x 2 groups that is on the device; its first batch has four workers.
  CommandPtr running() {
    auto command = make_launch(client, queue, "k", {.workers = true});
    LaunchPlan& plan = *command->launch;
    plan.dimensions = 3;
    plan.global = {64, 6, 8};
    plan.local = {16, 2, 4};
    command->workers = workers.prepare(plan, *queue);
    command->enter(Command::State::arrived);
    command->placement.kernel =
        machine.arrive({.footprint = {128, 0, 0, 1}, .groups = 24, .divisible = true, .stream = queue->number});
    kernels.add(command);
    submit(*command, 4);
    command->enter(Command::State::submitted);
    return command;
  }
  std::shared_ptr<WorkerBatch> submit(Command& command, std::uint32_t count) {
    workers.tell_limits(command);
    auto submitted = workers.submit(command, count);
    EXPECT_EQ(submitted.status, status::kSuccess);
    events.push_back(submitted.event);
    return submitted.batch;
  }
  [[nodiscard]] FakeTable& table() const { return *backend.tables.back().lock(); }
  static FakeCounters& counters(const Command& command) {
    return static_cast<FakeCounters&>(*command.workers->counters);
  }

  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
  std::shared_ptr<Queue> queue = make_queue();
  FakeBackend backend{polled_device()};
  ManualClock clock;
  SmMachine machine{backend.unit_limits(), 4, 1};
  ActiveKernels kernels;
  SmWorkers workers{backend, machine, kernels, clock};
  std::vector<EventHandle> events;
};

TEST_F(SmWorkersTest, ALaunchHasItsQueuesTableAndCountersOfItsOwn) {
  const auto first = running(), second = running();
  EXPECT_EQ(first->workers->groups, 24U);
  EXPECT_EQ(first->workers->range.groups, (std::array<std::uint32_t, 3>{4, 3, 2}));
  EXPECT_EQ(first->workers->local, (Size3{16, 2, 4}));
  EXPECT_EQ(first->workers->table, second->workers->table);
  EXPECT_NE(first->workers->counters, second->workers->counters);
  EXPECT_EQ(backend.tables.size(), 1U);
  queue = make_queue();
  EXPECT_NE(running()->workers->table, first->workers->table) << "another queue";
}

TEST_F(SmWorkersTest, WithoutATableOrCountersALaunchHasNoWorkers) {
  const auto command = make_launch(client, queue, "k", {.workers = true});
  const auto prepared = [&] { return workers.prepare(*command->launch, *queue) != nullptr; };
  backend.no_tables = true;
  EXPECT_FALSE(prepared());
  backend.no_tables = false;
  backend.no_counters = true;
  EXPECT_FALSE(prepared());
  backend.no_counters = false;
  EXPECT_TRUE(prepared());
}

TEST_F(SmWorkersTest, TheDeviceIsToldTheGridOfTheLaunchAndItsWorkers) {
  const auto command = running();
  const KernelLaunch& launch = backend.submitted.back().launch;
  EXPECT_EQ(launch.global, (Size3{64, 6, 8}));
  EXPECT_EQ(launch.local, (Size3{16, 2, 4}));
  ASSERT_TRUE(launch.workers);
  EXPECT_EQ(launch.workers->workers, 4U);
  EXPECT_EQ(launch.workers->chunk, 1U);
  EXPECT_FALSE(launch.workers->beside_queue);
  EXPECT_EQ(launch.workers->before, nullptr);
  EXPECT_EQ(command->workers->submitted, 4U);
}

TEST_F(SmWorkersTest, ALaterBatchRunsOnAQueueThatIsUsedAgain) {
  const auto command = running();
  const auto second = submit(*command, 2);
  ASSERT_NE(second->extra_queue, nullptr);
  EXPECT_TRUE(backend.submitted.back().launch.workers->beside_queue);
  EXPECT_EQ(command->workers->submitted, 6U);
  EXPECT_FALSE(command->workers->may_be_followed());
  const QueueObject* extra = second->extra_queue.get();
  EXPECT_FALSE(workers.completed(*command, second, status::kComplete));
  EXPECT_EQ(submit(*command, 1)->extra_queue.get(), extra);
  command->dependencies.unobserved = 1;
  EXPECT_EQ(submit(*command, 1)->extra_queue, nullptr) << "what its queue has before it may not have completed";
}

TEST_F(SmWorkersTest, ACancelledLaunchMayHaveNoWorkersAndEndsWithItsLastBatch) {
  const auto command = running();
  const auto first = command->workers->batches[0], second = submit(*command, 1);
  workers.cancel(*command);
  EXPECT_EQ(table().workers, (std::vector<std::uint32_t>{0, 0, 0, 0}));
  EXPECT_EQ(table().quotas, (std::vector<std::uint32_t>{0, 0, 0, 0}));
  EXPECT_TRUE(command->workers->exhausted);
  const std::uint32_t questions = table().questions;
  workers.observe();
  EXPECT_EQ(table().questions, questions) << "nothing about it is of interest any more";
  EXPECT_FALSE(workers.completed(*command, first, status::kComplete));
  EXPECT_TRUE(workers.completed(*command, second, status::kComplete));
}

TEST_F(SmWorkersTest, ALaunchEndsWhenItsGroupsAreCompleteOrItsWorkersFail) {
  const auto complete = running(), failed = running(), left = running();
  counters(*complete).complete = true;
  EXPECT_TRUE(workers.completed(*complete, complete->workers->batches[0], status::kComplete));
  EXPECT_EQ(complete->status, status::kComplete);
  EXPECT_TRUE(workers.completed(*failed, failed->workers->batches[0], -5));
  EXPECT_EQ(failed->status, -5);
  EXPECT_FALSE(workers.completed(*left, left->workers->batches[0], status::kComplete)) << "groups are left";
  client->gone = true;
  const auto gone = running();
  EXPECT_TRUE(workers.completed(*gone, gone->workers->batches[0], status::kComplete));
}

TEST_F(SmWorkersTest, AWorkerOfTheClientIsCountedUntilItsBatchHasLeft) {
  const auto command = running();
  client->state.statistics.workers = 5;
  workers.completed(*command, command->workers->batches[0], status::kComplete);
  EXPECT_EQ(client->state.statistics.workers, 1U);
}

}  // namespace
}  // namespace wm::runtime::test
