// The scheduler as a whole, on a device that the test drives with a clock of its own.
#include "runtime/schedule/scheduler.h"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <utility>

#include "policy/registry.h"
#include "runtime/schedule/callback_completion.h"
#include "runtime/schedule/device_machine.h"
#include "runtime/schedule/fixture.h"
#include "runtime/schedule/polling_completion.h"

namespace wm::runtime::test {
namespace {

struct SchedulerTest : testing::Test {
  explicit SchedulerTest(const Capabilities& device = callback_device(), const AdmissionOptions& options = {},
                         const std::string& policy = "accelos")
      : backend(device), scheduler(backend, counts, make(policy), options, clock) {}
  ~SchedulerTest() override {
    // Whatever is left completes, so that the scheduler can end.
    client->gone = other->gone = true;
    scheduler.drop(*client);
    scheduler.drop(*other);
    for (std::size_t i = 0; i < backend.submitted.size(); ++i) {
      if (!backend.submitted[i].complete && backend.submitted[i].event != nullptr) backend.complete(i);
      observe();
    }
  }
  static std::unique_ptr<policy::Policy> make(const std::string& name) {
    auto policy = policy::make(*policy::choose(name), DeviceMachine::capabilities(), "device");
    return std::move(*policy);
  }
  CommandPtr add(const CommandPtr& command, std::vector<EventId> waits = {}) {
    scheduler.add(command, waits);
    return command;
  }
  CommandPtr launch(const std::shared_ptr<FakeClient>& of, const std::shared_ptr<Queue>& queue, const std::string& name,
                    const LaunchOptions& options = {}, std::vector<EventId> waits = {}) {
    return add(make_launch(of, queue, name, options), std::move(waits));
  }
  void observe() {
    if (auto* callbacks = dynamic_cast<CallbackCompletion*>(&scheduler.completions())) callbacks->deliver();
    if (auto* polling = dynamic_cast<PollingCompletion*>(&scheduler.completions())) polling->poll();
  }
  void complete(std::size_t index, Status status = status::kComplete) {
    clock.time += 1000;
    backend.complete(index, status, clock.time - 500, clock.time);
    observe();
  }

  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>(), other = std::make_shared<FakeClient>();
  FakeBackend backend;
  ManualClock clock;
  ObjectCounts counts;
  Scheduler scheduler;
};
struct PolledSchedulerTest : SchedulerTest {
  PolledSchedulerTest() : SchedulerTest(polled_device()) {}
};
// A policy that moves shares from running kernels.
struct MovingSharesTest : SchedulerTest {
  MovingSharesTest() : SchedulerTest(callback_device(), {}, "moving_shares") {}
};
struct PolledMovingSharesTest : SchedulerTest {
  PolledMovingSharesTest() : SchedulerTest(polled_device(), {}, "moving_shares") {}
};
Capabilities sharing_device() {
  Capabilities c = polled_device();
  c.shares_launches = true;
  return c;
}
struct SharedLaunchesTest : SchedulerTest {
  SharedLaunchesTest() : SchedulerTest(sharing_device()) {}
};
struct OrderedLaunchesTest : SchedulerTest {
  OrderedLaunchesTest() : SchedulerTest(sharing_device(), {}, "least_served") {}
};
struct FairlyQueuedTest : SchedulerTest {
  FairlyQueuedTest()
      : SchedulerTest(sharing_device(), {.short_launch = 0, .isolated_short_launch = 0}, "fair_queueing") {}
};
struct FifoTest : SchedulerTest {
  FifoTest() : SchedulerTest(callback_device(), {.pass_through = true}, "left_over") {}
};

TEST_F(SchedulerTest, ATransferRunsAndItsEventShowsIt) {
  const auto c = add(make_transfer(backend, client, make_queue(), 5));
  EXPECT_EQ(client->shown(5), status::kRunning);
  EXPECT_EQ(counts.events, 1);
  complete(0);
  EXPECT_EQ(client->shown(5), status::kComplete);
  EXPECT_EQ(c->state(), Command::State::done);
  EXPECT_EQ(counts.events, 0);
  EXPECT_EQ(counts.commands, 0);
}

TEST_F(SchedulerTest, ARefusedCommandFailsAndTheDeviceIsInDoubt) {
  EXPECT_FALSE(scheduler.take_failed_command());
  backend.next_status = -30;
  add(make_transfer(backend, client, make_queue(), 5));
  EXPECT_EQ(client->shown(5), -30);
  EXPECT_TRUE(scheduler.take_failed_command());
  EXPECT_FALSE(scheduler.take_failed_command());
}

// clFinish is such a marker: it must not return while earlier commands run.
TEST_F(SchedulerTest, AMarkerBehindARefusedCommandWaitsForTheCommandsBeforeThat) {
  const auto queue = make_queue();
  add(make_transfer(backend, client, queue, 1));
  backend.next_status = -30;
  add(make_transfer(backend, client, queue, 2));
  add(make_command(client, queue, CommandType::marker, 3));
  EXPECT_EQ(client->shown(1), status::kRunning);
  EXPECT_NE(client->shown(3), status::kComplete);
  complete(0);
  EXPECT_EQ(client->shown(1), status::kComplete);
  EXPECT_EQ(client->shown(2), -30);
  EXPECT_EQ(client->shown(3), status::kComplete);
  EXPECT_EQ(counts.commands, 0);
}

TEST_F(SchedulerTest, AKernelFaultFailsLaterCommandsOfItsQueue) {
  const auto queue = make_queue();
  launch(client, queue, "k", {.groups = 8, .event = 1});
  complete(0, status::kOutOfResources);
  EXPECT_EQ(client->shown(1), status::kOutOfResources);
  add(make_transfer(backend, client, queue, 2));
  add(make_transfer(backend, client, make_queue(), 3));
  EXPECT_EQ(client->shown(2), status::kDependencyFailed);
  EXPECT_EQ(client->shown(3), status::kRunning) << "another queue";
}

// The client was told that it is enqueued: a read behind it would return data without its results.
TEST_F(SchedulerTest, ALaunchThatCannotRunFailsLaterCommandsOfItsQueue) {
  const auto queue = make_queue();
  add(make_transfer(backend, client, queue, 1));
  const auto refused = make_command(client, queue, CommandType::launch, 2);
  refused->refuse(status::kOutOfResources);
  add(refused);
  add(make_transfer(backend, client, queue, 3));
  add(make_command(client, queue, CommandType::marker, 4));
  add(make_transfer(backend, client, make_queue(), 5));
  complete(0);
  EXPECT_EQ(client->shown(1), status::kComplete) << "before it";
  EXPECT_EQ(client->shown(2), status::kOutOfResources);
  EXPECT_EQ(client->shown(3), status::kDependencyFailed);
  EXPECT_EQ(client->shown(4), status::kDependencyFailed) << "clFinish";
  EXPECT_EQ(client->shown(5), status::kRunning) << "another queue";
}

// Drivers refuse groups that are too large, and an application then tries smaller ones.
TEST_F(SchedulerTest, AnApplicationThatIsToldOfALaunchThatCannotRunContinuesItsQueue) {
  const auto queue = make_queue();
  const auto refused = make_command(client, queue, CommandType::launch, 1);
  refused->start_awaited = true;
  refused->refuse(status::kInvalidWorkGroupSize);
  add(refused);
  add(make_transfer(backend, client, queue, 2));
  EXPECT_EQ(client->shown(1), status::kInvalidWorkGroupSize);
  EXPECT_EQ(client->shown(2), status::kRunning);
}

TEST_F(SchedulerTest, ALaunchThatFailsWithoutAFaultLeavesItsQueueUsable) {
  const auto queue = make_queue();
  launch(client, queue, "k", {.groups = 8, .event = 1});
  complete(0, status::kInvalidWorkGroupSize);
  EXPECT_EQ(client->shown(1), status::kInvalidWorkGroupSize);
  add(make_transfer(backend, client, queue, 2));
  EXPECT_EQ(client->shown(2), status::kRunning);
}

TEST_F(SchedulerTest, AUserEventHoldsBackWhatWaitsForIt) {
  scheduler.add_user_event(client, 1);
  add(make_transfer(backend, client, make_queue(), 2), {1});
  EXPECT_EQ(backend.log(), "");
  scheduler.set_user_event(*client, 1, status::kComplete);
  EXPECT_EQ(backend.log(), "copy");
}

TEST_F(SchedulerTest, AFailedUserEventFailsWhatWaitsForIt) {
  scheduler.add_user_event(client, 1);
  add(make_transfer(backend, client, make_queue(), 2), {1});
  scheduler.set_user_event(*client, 1, -7);
  EXPECT_EQ(backend.log(), "");
  EXPECT_EQ(client->shown(2), status::kDependencyFailed);
}

TEST_F(SchedulerTest, HostAccessRunsUntilTheClientIsDone) {
  const auto queue = make_queue();
  add(make_command(client, queue, CommandType::host_access, 3));
  add(make_transfer(backend, client, queue));
  EXPECT_EQ(client->shown(3), status::kRunning);
  EXPECT_EQ(backend.log(), "");
  scheduler.end_host_access(*client, 3);
  EXPECT_EQ(client->shown(3), status::kComplete);
  EXPECT_EQ(backend.log(), "copy");
}

TEST_F(SchedulerTest, ADividedLaunchRunsAsSingleWorkersOnAllUnits) {
  launch(client, make_queue(), "k", {.groups = 8, .workers = true, .event = 1});
  EXPECT_EQ(backend.log(), "k*1 k*1 k*1 k*1");
  backend.queue_words[0].lock()->value = 8;
  for (std::size_t i = 0; i < 4; ++i) complete(i);
  EXPECT_EQ(client->shown(1), status::kComplete);
  EXPECT_EQ(scheduler.statistics(*client).as_workers, 1U);
}

// accelOS does not reduce the share of a running kernel (shares are set when a kernel is scheduled).
TEST_F(SchedulerTest, UnderAccelosARunningKernelKeepsItsUnits) {
  launch(client, make_queue(), "a", {.groups = 100, .workers = true});
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1");
  launch(other, make_queue(), "b", {.groups = 100, .workers = true});
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NE(backend.control_words[i].lock()->value, 0U);
}

TEST_F(MovingSharesTest, ANewlyArrivedClientGetsHalfOfTheUnits) {
  launch(client, make_queue(), "a", {.groups = 100, .workers = true});
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1");
  launch(other, make_queue(), "b", {.groups = 100, .workers = true});
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1") << "no place is free yet";
  EXPECT_EQ(backend.control_words[3].lock()->value, 0U);
  EXPECT_EQ(backend.control_words[2].lock()->value, 0U);
  EXPECT_NE(backend.control_words[1].lock()->value, 0U);
  complete(3);
  complete(2);
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 b*1 b*1");
}

TEST_F(SchedulerTest, AWorkerMakesRoomForATransfer) {
  launch(client, make_queue(), "a", {.groups = 100, .workers = true});
  add(make_transfer(backend, other, make_queue(), 1));
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 copy");
  EXPECT_EQ(backend.control_words[3].lock()->value, 0U);
  complete(3);
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 copy") << "the place is the transfer's";
  complete(4);
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 copy a*1");
}

TEST_F(SchedulerTest, AShortLaunchOfAnIsolatedClientRunsUnmodified) {
  const auto queue = make_queue();
  launch(client, queue, "k", {.groups = 8, .workers = true, .group_nanoseconds = 1000});
  EXPECT_EQ(backend.log(), "k");
  complete(0);
  launch(client, queue, "k", {.groups = 8, .workers = true, .group_nanoseconds = 1e6});
  EXPECT_EQ(backend.log(), "k k*1 k*1 k*1 k*1");
}

TEST_F(SchedulerTest, ShortLaunchesOfAnIsolatedClientArePipelined) {
  const auto queue = make_queue();
  for (EventId i = 0; i < 3; ++i) {
    launch(client, queue, "k", {.groups = 8, .workers = true, .group_nanoseconds = 1000, .event = i});
  }
  EXPECT_EQ(backend.log(), "k k k");
  EXPECT_EQ(client->state.pipelined_launches, 2U);
  complete(0);
  EXPECT_EQ(client->state.pipelined_launches, 1U) << "the policy knows the second now";
  complete(1);
  complete(2);
  EXPECT_EQ(client->state.pipelined_launches, 0U);
  EXPECT_EQ(client->state.pipelined_nanoseconds, 0);
  EXPECT_EQ(client->shown(2), status::kComplete);
}

TEST_F(SchedulerTest, ACompletionIsShownInTheOrderOfItsQueue) {
  const auto queue = make_queue();
  add(make_transfer(backend, client, queue, 1));
  add(make_transfer(backend, client, queue, 2));
  EXPECT_EQ(backend.log(), "copy copy");
  complete(1);
  EXPECT_EQ(client->shown(2), status::kRunning) << "the first has not been seen to complete";
  complete(0);
  EXPECT_EQ(client->shown(1), status::kComplete);
  EXPECT_EQ(client->shown(2), status::kComplete);
}

TEST_F(SchedulerTest, WaitingCommandsOfAClientThatHasGoneNeverRun) {
  const auto queue = make_queue();
  scheduler.add_user_event(client, 1);
  add(make_transfer(backend, client, queue, 2), {1});
  launch(client, make_queue(), "k", {.event = 3}, {2});
  client->gone = true;
  scheduler.drop(*client);
  EXPECT_EQ(backend.log(), "");
  EXPECT_EQ(counts.commands, 0);
}

TEST_F(SchedulerTest, AKernelThatOutlivesItsClientKeepsItsResources) {
  launch(client, make_queue(), "a", {.groups = 2});
  client->gone = true;
  scheduler.drop(*client);
  ASSERT_EQ(scheduler.orphaned_kernels().size(), 1U);
  EXPECT_EQ(scheduler.orphaned_kernels()[0].kernel, "a");
  launch(other, make_queue(), "b", {.groups = 100, .workers = true});
  EXPECT_EQ(backend.log(), "a b*1 b*1") << "two of four units";
  complete(0);
  EXPECT_TRUE(scheduler.orphaned_kernels().empty());
  EXPECT_EQ(backend.log(), "a b*1 b*1 b*1 b*1");
}

TEST_F(SchedulerTest, LaunchesThatPrintTakeTurns) {
  launch(client, make_queue(), "a", {.prints = true});
  launch(other, make_queue(), "b", {.prints = true});
  EXPECT_EQ(backend.log(), "a");
  complete(0);
  EXPECT_EQ(backend.log(), "a b");
}

TEST_F(SchedulerTest, RulesHaveNamesAndDescriptions) {
  EXPECT_THAT(scheduler.admission_rules(),
              testing::ElementsAre(testing::StartsWith("pipeline_undivided: launches of"),
                                   testing::StartsWith("room_for_transfers: while"),
                                   testing::StartsWith("short_launches: launches below 300")));
}

TEST_F(SchedulerTest, RulesFollowThePolicy) {
  scheduler.set_policy(make("accelos"), {.short_launch = 0});
  EXPECT_THAT(scheduler.admission_rules(), testing::Not(testing::Contains(testing::StartsWith("short_launches"))));
  scheduler.set_policy(make("moving_shares"), {.short_launch = 100'000});
  EXPECT_THAT(scheduler.admission_rules(), testing::Contains(testing::StartsWith("short_launches")));
}

TEST_F(FifoTest, LaunchesGoToTheDeviceAsTheyCome) {
  const auto queue = make_queue();
  for (int i = 0; i < 40; ++i) launch(client, queue, "a", {.groups = 100, .workers = true});
  launch(other, make_queue(), "b", {.groups = 100, .workers = true});
  EXPECT_EQ(backend.submitted.size(), 41U);
  EXPECT_EQ(backend.submitted.back().what, "b");
}

TEST_F(PolledSchedulerTest, AShareIsOneBatch) {
  launch(client, make_queue(), "k", {.groups = 8, .workers = true, .event = 1});
  EXPECT_EQ(backend.log(), "k*4");
  complete(0);
  EXPECT_EQ(client->shown(1), status::kComplete);
}

TEST_F(PolledMovingSharesTest, ANewlyArrivedClientsShareIsSubmittedAtOnce) {
  launch(client, make_queue(), "a", {.groups = 100, .workers = true});
  launch(other, make_queue(), "b", {.groups = 100, .workers = true});
  EXPECT_EQ(backend.log(), "a*4 b*2") << "the device keeps it waiting until workers have left";
  EXPECT_EQ(backend.control_words[0].lock()->value, 2U);
}

// A program that fills or copies between its launches submits as much work for each event as one that only launches.
// Unloading its program may wait for another client's kernel.
TEST_F(FifoTest, AKernelThatOnlyItsLaunchHasIsDestroyedInTheBackground) {
  std::promise<std::thread::id> ended;
  auto command = make_launch(client, make_queue(), "k", {.groups = 8, .event = 1});
  const auto tell = [&, fake = command->launch->kernel->handle](auto*) { ended.set_value(std::this_thread::get_id()); };
  command->launch->kernel->handle = {command->launch->kernel->handle.get(), tell};
  add(std::exchange(command, nullptr));
  complete(0);
  EXPECT_NE(ended.get_future().get(), std::this_thread::get_id());
}

TEST_F(PolledSchedulerTest, FillsAndCopiesThatAreFollowedHaveNoEvent) {
  const auto queue = make_queue();
  const auto add_work = [&](CommandType type, bool next_queued) {
    const CommandPtr command = make_transfer(backend, client, queue);
    command->type = type;
    command->next_queued = next_queued;
    return add(command);
  };
  const auto fill = add_work(CommandType::fill, true), copy = add_work(CommandType::copy, true);
  const auto rows = add_work(CommandType::copy_rect, true), last = add_work(CommandType::fill, false);
  add_work(CommandType::write, true);
  EXPECT_EQ(backend.log(), "copy- copy- copy- copy copy") << "a write has memory to give back";
  complete(4);
  for (const CommandPtr& command : {fill, copy, rows, last}) EXPECT_EQ(command->state(), Command::State::done);
}

TEST_F(PolledSchedulerTest, TimesOfTheDeviceAreShownToTheClient) {
  const auto c = add(make_transfer(backend, client, make_queue(), 1));
  complete(0);
  EXPECT_EQ(c->times.device_ended - c->times.device_started, 500U);
}

// Device time used to be the sum of each kernel's time on the device, and slowdown left out that a kernel with a small
// share runs longer.
TEST_F(SchedulerTest, SlowdownIsMeasuredAgainstIsolatedLaunches) {
  const auto queue = make_queue();
  launch(client, queue, "k", {.groups = 100});
  clock.time += 999'000;
  complete(0);
  const ClientStatistics isolated = scheduler.statistics(*client);
  EXPECT_DOUBLE_EQ(isolated.turnaround_nanoseconds, 1'000'000);
  EXPECT_DOUBLE_EQ(isolated.isolated_nanoseconds, 1'000'000);
  EXPECT_EQ(isolated.estimated_launches, 0U);
  EXPECT_EQ(isolated.device_nanoseconds, 1'000'000U);
  launch(other, make_queue(), "o", {.groups = 100});
  launch(client, queue, "k", {.groups = 100});
  clock.time += 1'000'000;
  complete(1);
  clock.time += 1'999'000;
  complete(2);
  const ClientStatistics shared = scheduler.statistics(*client), first = scheduler.statistics(*other);
  EXPECT_DOUBLE_EQ(shared.isolated_nanoseconds, 2'000'000);
  EXPECT_DOUBLE_EQ(shared.turnaround_nanoseconds, 1'000'000 + 3'001'000);
  EXPECT_EQ(shared.estimated_launches, 0U) << "it was measured by the first launch";
  EXPECT_EQ(first.estimated_launches, 1U) << "it never ran isolated";
  EXPECT_LE(shared.device_nanoseconds + first.device_nanoseconds, 4'001'000U);
}

TEST_F(MovingSharesTest, AChangedShareReachesKernelsThatRun) {
  launch(client, make_queue(), "a", {.groups = 100, .workers = true});
  launch(other, make_queue(), "b", {.groups = 100, .workers = true});
  complete(3);
  complete(2);
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 b*1 b*1");
  scheduler.set_weights(*client, 7, 3);
  EXPECT_EQ(scheduler.statistics(*client).priority, 7);
  EXPECT_EQ(backend.control_words[5].lock()->value, 0U) << "one of b's workers has to leave";
  complete(5);
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 b*1 b*1 a*1");
}

TEST_F(SharedLaunchesTest, TheCapOfThePolicyDoesNotLimitALaunchThatStartsAtOnce) {
  client->state.statistics.priority = 5;
  launch(other, make_queue(), "low", {.groups = 100});
  launch(client, make_queue(), "high", {.groups = 2});
  ASSERT_EQ(backend.log(), "low high");
  EXPECT_EQ(backend.submitted[0].sharing.max_groups_per_unit, 4U) << "accelos caps it at its share";
  EXPECT_EQ(backend.submitted[1].sharing.max_groups_per_unit, 0U) << "accelos has not bound it yet";
  EXPECT_EQ(backend.submitted[1].sharing.priority, 5);
}

// Workers of a lower priority are activity too: otherwise two clients whose first launches are workers stay so.
TEST_F(SharedLaunchesTest, AHigherPriorityStartsAtOnceBesideWorkersOfALowerOne) {
  client->state.statistics.priority = 5;
  launch(other, make_queue(), "low", {.groups = 100, .workers = true});
  launch(client, make_queue(), "high", {.groups = 2, .workers = true});
  EXPECT_THAT(backend.log(), testing::AllOf(testing::StartsWith("low*"), testing::EndsWith(" high")));
  launch(other, make_queue(), "next", {.groups = 100, .workers = true});
  EXPECT_EQ(scheduler.statistics(*other).as_workers, 1U);
  for (std::size_t i = 0; i < backend.submitted.size(); ++i) complete(i);
  ASSERT_THAT(backend.log(), testing::EndsWith(" next")) << "unmodified, as long as the higher one is active";
  EXPECT_EQ(backend.submitted.back().sharing.unit_share, 0.5);
}

// The last kernel in the order has priority 0, also where it is the only one.
TEST_F(OrderedLaunchesTest, LaunchesHaveThePrioritiesOfThePolicysOrder) {
  const auto queue = make_queue();
  const auto first = launch(client, queue, "long", {.groups = 100});
  ASSERT_EQ(backend.log(), "long");
  EXPECT_EQ(backend.submitted[0].sharing.order_priority, 0);
  clock.time += 50'000;
  launch(other, make_queue(), "short", {.groups = 2});
  ASSERT_EQ(backend.log(), "long short");
  EXPECT_EQ(backend.submitted[1].sharing.order_priority, 1);
  complete(0);
  launch(client, queue, "again", {.groups = 100});
  ASSERT_EQ(backend.log(), "long short again");
  EXPECT_EQ(backend.submitted[2].sharing.order_priority, 0) << "its client has used more";
  complete(1);
  launch(client, queue, "behind", {.groups = 4, .group_nanoseconds = 1});
  ASSERT_EQ(backend.log(), "long short again behind");
  EXPECT_EQ(backend.submitted[3].sharing.order_priority, 0) << "before the policy knows of it";
}

TEST_F(FairlyQueuedTest, TheTimesOfEarlierLaunchesTellThePolicyTheirLengths) {
  const auto queue = make_queue(), others = make_queue();
  // Both clients are known: a launch of 100 us and one of 5 us.
  for (int i = 0; i < 2; ++i) {
    launch(client, queue, "long", {.groups = 100, .group_nanoseconds = 1'000});
    complete(backend.submitted.size() - 1);
    launch(other, others, "short", {.groups = 5, .group_nanoseconds = 1'000});
    complete(backend.submitted.size() - 1);
  }
  launch(other, others, "short", {.groups = 5, .group_nanoseconds = 1'000});
  EXPECT_EQ(backend.submitted.back().sharing.order_priority, 0);
  launch(client, queue, "long", {.groups = 100, .group_nanoseconds = 1'000});
  EXPECT_EQ(backend.submitted.back().sharing.order_priority, 0) << "it arrived last, and is longer";
}

TEST_F(SharedLaunchesTest, PoliciesWithoutAnOrderLeavePrioritiesAsTheyAre) {
  launch(client, make_queue(), "a", {.groups = 8});
  EXPECT_EQ(backend.submitted[0].sharing.order_priority, std::nullopt);
}

TEST_F(SchedulerTest, ANewPolicyDividesTheDeviceAmongKernelsThatRun) {
  launch(client, make_queue(), "a", {.groups = 100, .workers = true});
  launch(other, make_queue(), "b", {.groups = 100, .workers = true});
  complete(3);
  complete(2);
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 a*1 a*1") << "under accelos a launch keeps its first share";
  scheduler.set_policy(make("moving_shares"), {});
  complete(5);
  complete(4);
  EXPECT_EQ(backend.log(), "a*1 a*1 a*1 a*1 a*1 a*1 b*1 b*1");
}

}  // namespace
}  // namespace wm::runtime::test
