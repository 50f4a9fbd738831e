// Launches as a policy and their workers see them, and transfers that block, over a device that the test
// drives.
#include <cstring>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "runtime/schedule/completion_rig.h"
#include "runtime/schedule/polling_completion.h"
#include "runtime/schedule/scheduler.h"

namespace wm::runtime::test {
namespace {

// The kernels that have arrived, as the machine shows them then.
struct Arrivals final : policy::Policy {
  explicit Arrivals(std::vector<policy::Kernel>& kernels) : all(kernels) {}
  void on(const policy::KernelArrived& arrived, policy::Machine& machine) override {
    for (const policy::Kernel& k : machine.kernels()) {
      if (k.id == arrived.kernel) all.push_back(k);
    }
  }
  std::vector<policy::Kernel>& all;
};

// Lets no kernel start.
struct Holds final : policy::Policy {
  void on(const policy::KernelArrived& arrived, policy::Machine& machine) override {
    for (const policy::Sm& sm : machine.sms()) machine.cap(sm.id, arrived.kernel, 0);
  }
};

struct DispatchTest : testing::Test {
  explicit DispatchTest(const Capabilities& device = polled_device()) : backend(device) {}
  ~DispatchTest() override {
    client->gone = true;
    scheduler.drop(*client);
    for (std::size_t i = 0; i < backend.submitted.size(); ++i) {
      if (!backend.submitted[i].complete && backend.submitted[i].event != nullptr) backend.complete(i);
      poll();
    }
  }
  void poll() { dynamic_cast<PollingCompletion&>(scheduler.completions()).poll(); }
  // A launch of `groups` groups of 16 x 2 x 3 items.
  CommandPtr launch(std::uint32_t groups, bool workers, std::uint32_t chunk = 0, std::uint32_t registers = 0) {
    auto command = make_launch(client, make_queue(), "k", {.groups = groups, .workers = workers});
    LaunchPlan& plan = *command->launch;
    plan.dimensions = 3;
    plan.global = {groups * 16UL, 2, 3};
    plan.local = {16, 2, 3};
    plan.offset = {5, 6, 7};
    auto form = std::make_shared<KernelForm>(*plan.form);
    form->chunk = chunk;
    form->max_chunk = chunk;
    form->registers = registers;
    plan.form = form;
    scheduler.add(command, {});
    return command;
  }
  [[nodiscard]] rewrite::Range last_range() const {
    rewrite::Range range;
    const std::string& bytes = backend.submitted.back().last_value;
    EXPECT_EQ(bytes.size(), sizeof range);
    std::memcpy(&range, bytes.data(), std::min(bytes.size(), sizeof range));
    return range;
  }

  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
  FakeBackend backend;
  ManualClock clock;
  ObjectCounts counts;
  std::vector<policy::Kernel> arrived;
  Scheduler scheduler{backend, counts, std::make_unique<Arrivals>(arrived), {}, clock};
};

TEST_F(DispatchTest, APolicyIsToldTheWeightsAndTheStreamOfTheClient) {
  client->state.statistics.priority = 7;
  client->state.statistics.share = 2.5;
  const auto first = launch(8, false), second = launch(8, true);
  ASSERT_EQ(arrived.size(), 2U);
  for (const policy::Kernel& kernel : arrived) {
    EXPECT_EQ(kernel.priority, 7);
    EXPECT_EQ(kernel.share, 2.5);
  }
  EXPECT_NE(arrived[0].id, arrived[1].id) << "of different queues";
}

TEST_F(DispatchTest, APolicyIsToldTheResourcesOfAGroup) {
  launch(8, false, 0, 9);
  launch(8, true, 0, 9);
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_EQ(arrived[0].footprint.threads, 16U * 2 * 3);
  EXPECT_EQ(arrived[0].footprint.registers, 0U) << "of the original form they are not known";
  EXPECT_EQ(arrived[0].blocks, 8U);
  EXPECT_EQ(arrived[1].footprint.threads, 16U * 2 * 3);
  EXPECT_EQ(arrived[1].footprint.registers, 9U * 16 * 2 * 3) << "of workers: for every item";
}

TEST_F(DispatchTest, ANewPolicyIsToldOfTheKernelsThatAreThere) {
  launch(8, true);
  std::vector<policy::Kernel> told;
  scheduler.set_policy(std::make_unique<Arrivals>(told), {});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].id, arrived[0].id);
}

TEST_F(DispatchTest, AQueueKnowsThatThePolicyHoldsItsLaunches) {
  scheduler.set_policy(std::make_unique<Holds>(), {});
  const auto held = launch(8, false);
  EXPECT_TRUE(held->queue->is_held);
  EXPECT_TRUE(backend.submitted.empty());
  scheduler.set_policy(std::make_unique<Arrivals>(arrived), {});
  EXPECT_FALSE(held->queue->is_held);
  EXPECT_EQ(backend.submitted.size(), 1U);
}

// A worker's kernel has three more arguments: the queue of groups, its control word and the range.
TEST_F(DispatchTest, WorkersGetTheirWordsAndTheRangeOfTheLaunch) {
  const auto command = launch(6, true);
  ASSERT_FALSE(backend.submitted.empty());
  const auto& arguments = backend.submitted.back().arguments;
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(arguments[0].kind, ArgumentKind::memory);
  EXPECT_EQ(arguments[0].memory, &backend.queue_words.back().lock()->memory());
  EXPECT_EQ(arguments[1].kind, ArgumentKind::memory);
  EXPECT_EQ(arguments[1].memory, &backend.control_words.back().lock()->memory());
  EXPECT_EQ(arguments[2].kind, ArgumentKind::value);
  const rewrite::Range range = last_range();
  EXPECT_EQ(range.groups, (std::array<std::uint32_t, 3>{6, 1, 1}));
  EXPECT_EQ(range.offset, (std::array<std::uint64_t, 3>{5, 6, 7}));
  EXPECT_EQ(range.dimensions, 3U);
  EXPECT_EQ(command->workers->groups, 6U);
}

// The device has room for four workers, and each must find two chunks.
TEST_F(DispatchTest, WorkersTakeChunksOfTheirFormWhereThereAreEnoughGroups) {
  struct Row {
    std::uint32_t groups, chunk, taken;
  };
  for (const Row& row : {Row{800, 0, 1}, Row{800, 1, 1}, Row{800, 5, 5}, Row{24, 5, 3}, Row{8, 5, 1}}) {
    launch(row.groups, true, row.chunk);
    EXPECT_EQ(last_range().chunk, row.taken) << row.groups << " groups, chunk " << row.chunk;
    backend.queue_words.back().lock()->value = row.groups;
    backend.complete(backend.submitted.size() - 1);
    poll();
  }
}

TEST_F(DispatchTest, TheTimeOfALaunchIsLearnedFromItsEnd) {
  const auto command = make_launch(client, make_queue(), "k", {.groups = 10, .event = 3});
  const auto kernel = command->launch->kernel;
  scheduler.add(command, {});
  backend.complete(0, status::kComplete, 1000, 6000);
  poll();
  EXPECT_DOUBLE_EQ(kernel->group_nanoseconds, 500);
}

// --- Transfers that block run on threads of their own.

Capabilities blocking_device() {
  Capabilities c = polled_device();
  c.prefers_blocking_transfers = true;
  return c;
}
struct BlockingTransferTest : DispatchTest {
  BlockingTransferTest() : DispatchTest(blocking_device()) {}
  CommandPtr transfer(bool blocking, EventId event, const Command::Submit& submit) {
    auto command = make_transfer(backend, client, make_queue(), event);
    command->blocking_transfer = blocking;
    command->submit = submit;
    scheduler.add(command, {});
    return command;
  }
  void wait_for_all() {
    while (counts.events != 0) std::this_thread::yield();
    (void)scheduler.statistics(*client);  // takes the lock under which the transfer ends
  }
};

TEST_F(BlockingTransferTest, TheEventShowsThatItRunsAndThatItHasEnded) {
  std::latch blocked(1);
  const auto command = transfer(true, 5, [&](const QueueObject& queue, EventHandle* event) {
    blocked.wait();
    backend.submit_marker(queue, event);
    backend.complete(0, status::kComplete, 300, 400);
    return status::kSuccess;
  });
  EXPECT_EQ(command->state(), Command::State::transferring);
  EXPECT_EQ(client->shown(5), status::kRunning);
  EXPECT_EQ(counts.events, 1);
  blocked.count_down();
  wait_for_all();
  EXPECT_EQ(client->shown(5), status::kComplete);
  EXPECT_EQ(command->times.device_started, 300U);
  EXPECT_EQ(command->times.device_ended, 400U);
  EXPECT_EQ(backend.open_events, 0U);
}

TEST_F(BlockingTransferTest, AFailureIsShown) {
  const auto command = transfer(true, 5, [](const QueueObject&, EventHandle*) { return Status{-30}; });
  wait_for_all();
  EXPECT_EQ(client->shown(5), -30);
  EXPECT_EQ(command->state(), Command::State::done);
}

TEST_F(BlockingTransferTest, NobodySeesOneWithoutAnEvent) {
  transfer(true, kNoEvent, [&](const QueueObject&, EventHandle*) { return Status{-30}; });
  wait_for_all();
  EXPECT_TRUE(client->states.empty() || client->states.begin()->first == kNoEvent);
  EXPECT_NE(client->shown(kNoEvent), status::kRunning);
}

TEST_F(BlockingTransferTest, OthersAreSubmittedByTheCaller) {
  const auto caller = std::this_thread::get_id();
  std::thread::id made_by;
  transfer(false, 6, [&](const QueueObject& queue, EventHandle* event) {
    made_by = std::this_thread::get_id();
    return backend.submit_marker(queue, event);
  });
  EXPECT_EQ(made_by, caller);
}

}  // namespace
}  // namespace wm::runtime::test
