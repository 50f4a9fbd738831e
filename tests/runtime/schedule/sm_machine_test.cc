// The Machine with real SMs: workers go where policies say, are drained, and are counted; and every policy that it can
// serve keeps its promises there.
//
// The GPU is a model of workers: each runs one group after the other on its SM and, between two groups, leaves where
// the SM has more workers of its kernel than it may have.
#include "runtime/schedule/sm_machine.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

using policy::KernelId;
using policy::kNoKernel;
using Counts = std::vector<std::uint32_t>;

struct SmMachineTest : testing::Test {
  // … and is old enough for its workers to be where they will be.
  KernelId arrive(std::uint32_t groups, bool divisible = true) {
    const KernelId id = arrive_now(groups, divisible);
    machine.set_now(machine.now() + SmMachine::kStarting);
    return id;
  }
  KernelId arrive_now(std::uint32_t groups, bool divisible = true) {
    return machine.arrive({.footprint = {512, 0, 0, 1}, .groups = groups, .divisible = divisible, .stream = ++stream});
  }
  // The kernels that were started, with the number of workers.
  std::string dispatched() {
    std::string text;
    machine.dispatch([&](KernelId id, std::uint32_t n) {
      text += (text.empty() ? "" : " ") + std::to_string(id.index) + "*" + std::to_string(n);
    });
    return text;
  }
  [[nodiscard]] Counts limits(KernelId id) const {
    const auto span = machine.worker_limits(id);
    return {span.begin(), span.end()};
  }

  void observe(KernelId id, const Counts& workers, const Counts& done, const Counts& begun = Counts(4, 0)) {
    machine.observe(id, {workers, done, begun});
  }
  [[nodiscard]] Counts quotas(KernelId id) const {
    const auto span = machine.quotas(id);
    return {span.begin(), span.end()};
  }

  SmMachine machine{{.total = {2048, 65536, 1 << 17, 32}, .warp_threads = 32}, 4, 1};
  std::uint64_t stream = 0;
};

TEST_F(SmMachineTest, AKernelByItselfFillsAllSms) {
  const KernelId a = arrive(1000);
  EXPECT_EQ(dispatched(), "0*16");
  EXPECT_EQ(limits(a), Counts(4, 4));
}

// The driver may place them on any SM, so each of them is allowed all that fit.
TEST_F(SmMachineTest, AFewGroupsMayRunWhereverTheDriverPlacesThem) {
  const KernelId a = arrive(2);
  EXPECT_EQ(dispatched(), "0*2");
  EXPECT_EQ(limits(a), Counts(4, 4));
  observe(a, Counts{0, 0, 1, 1}, Counts(4, 0));
  EXPECT_EQ(machine.residents({0})[a.index].resident, 0U);
  EXPECT_EQ(machine.residents({3})[a.index].resident, 1U);
  EXPECT_EQ(dispatched(), "") << "none is missing";
}

TEST_F(SmMachineTest, CapsThatAreTheSameOnAllSmsHoldForUndividedLaunches) {
  const auto arrive_capped = [this] {
    return machine.arrive({.footprint = {512, 0, 0, 1},
                           .groups = 1000,
                           .divisible = true,
                           .stream = ++stream,
                           .undivided = {512, 0, 1024, 1}});
  };
  const KernelId a = arrive_capped(), b = arrive_capped();
  machine.decide_undivided_caps();
  EXPECT_FALSE(machine.undivided_cap(a)) << "no caps";
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.cap({sm}, a, 1), machine.cap({sm}, b, sm);
  machine.decide_undivided_caps();
  EXPECT_FALSE(machine.undivided_cap(a)) << "the other kernel needs workers";
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.cap({sm}, b, 3);
  machine.decide_undivided_caps();
  ASSERT_TRUE(machine.undivided_cap(a) && machine.undivided_cap(b));
  EXPECT_EQ(machine.undivided_cap(a)->priority, 1);
  EXPECT_EQ(machine.undivided_cap(b)->priority, 0);
  const UndividedCap before = *machine.undivided_cap(a);
  machine.finish(b);
  machine.decide_undivided_caps();
  EXPECT_EQ(machine.undivided_cap(a), before) << "while the other pauses";
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.cap({sm}, a, policy::kNoCap);
  machine.decide_undivided_caps();
  EXPECT_FALSE(machine.undivided_cap(a));
}

TEST_F(SmMachineTest, OwnersAndQuotasNeedWorkers) {
  for (const bool has_quota : {false, true}) {
    std::vector<KernelId> ids;
    for (int i = 0; i < 2; ++i) {
      ids.push_back(machine.arrive({.footprint = {512, 0, 0, 1},
                                    .groups = 9,
                                    .divisible = true,
                                    .stream = ++stream,
                                    .undivided = {512, 0, 1024, 1}}));
      for (std::uint32_t sm = 0; sm < 4; ++sm) machine.cap({sm}, ids.back(), 2);
    }
    machine.decide_undivided_caps();
    EXPECT_TRUE(machine.undivided_cap(ids[0]));
    has_quota ? machine.set_quota({1}, ids[0], 5) : machine.give({1}, ids[0], policy::Preempt::drain);
    machine.decide_undivided_caps();
    EXPECT_FALSE(machine.undivided_cap(ids[0]));
    EXPECT_FALSE(machine.undivided_cap(ids[1]));
    for (const KernelId id : ids) machine.finish(id);
    machine.share({1});
  }
}

// As on simulators: a rate that had only the latest launch would depend on when that began.
TEST_F(SmMachineTest, CountersAreThoseOfAllLaunchesInAnEpoch) {
  const RuntimeMachine::KernelArrival launch{.footprint = {512, 0, 0, 1}, .groups = 40, .divisible = true, .stream = 7};
  const KernelId a = machine.arrive(launch);
  dispatched();
  machine.set_epoch(Cycles{1'000'000});
  observe(a, Counts(4, 4), Counts(4, 10));
  machine.finish(a);
  ASSERT_EQ(machine.arrive(launch), a);
  EXPECT_EQ(machine.epoch_instructions(a), 40U);
  observe(a, Counts(4, 4), Counts(4, 15));
  EXPECT_EQ(machine.epoch_instructions(a), 60U);
  machine.set_epoch(Cycles{1'000'000});
  EXPECT_EQ(machine.epoch_instructions(a), 0U);
}

// A policy that watches rates sees launches when they end.
TEST_F(SmMachineTest, AnUndividedLaunchUnderACapCountsWhenItEnds) {
  const RuntimeMachine::KernelArrival launch{
      .footprint = {512, 0, 0, 1}, .groups = 40, .divisible = true, .stream = 7, .undivided = {512, 0, 1024, 1}};
  const KernelId a = machine.arrive(launch);
  const KernelId b = machine.arrive(
      {.footprint = {512, 0, 0, 1}, .groups = 40, .divisible = true, .stream = 8, .undivided = {512, 0, 1024, 1}});
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.cap({sm}, a, 1), machine.cap({sm}, b, 2);
  machine.decide_undivided_caps();
  machine.finish(a);
  auto undivided = launch;
  undivided.divisible = false;
  ASSERT_EQ(machine.arrive(undivided), a);
  EXPECT_EQ(dispatched(), "1*16 0*40");
  EXPECT_EQ(machine.residents({0})[a.index].resident, 1U) << "its cap";
  EXPECT_EQ(machine.residents({0})[a.index].counters.thread_instructions, 0U);
  machine.finish(a);
  EXPECT_EQ(machine.residents({0})[a.index].counters.thread_instructions, 10U);
}

TEST_F(SmMachineTest, AKernelRestrictedToSomeSmsSubmitsWorkersForAll) {
  const KernelId a = arrive(3), b = arrive(1000);
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.give({sm}, sm == 3 ? a : b, policy::Preempt::drain);
  EXPECT_EQ(dispatched(), "0*16 1*16");
  EXPECT_EQ(limits(a), (Counts{0, 0, 0, 4}));
  EXPECT_TRUE(machine.is_unsettled(a)) << "whether enough stayed must be observed";
  observe(a, Counts(4, 0), Counts(4, 0));
  machine.set_now(machine.now() + SmMachine::kRetry);
  EXPECT_EQ(dispatched(), "0*16") << "none stayed: again";
}

TEST_F(SmMachineTest, ADrainedSmGoesToItsNextOwnerWhenTheLastWorkerHasLeft) {
  const KernelId a = arrive(1000);
  dispatched();
  const KernelId b = arrive(1000);
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.give({sm}, sm < 3 ? a : b, policy::Preempt::drain);
  EXPECT_EQ(dispatched(), "0*0") << "a is told, b waits";
  EXPECT_EQ(limits(a), (Counts{4, 4, 4, 0}));
  EXPECT_EQ(machine.sms()[3].state, policy::Sm::State::reserved);
  EXPECT_TRUE(machine.is_unsettled(a));
  observe(a, Counts{4, 4, 4, 1}, Counts{10, 10, 10, 3});
  EXPECT_EQ(machine.sms()[3].owner, kNoKernel);
  observe(a, Counts{4, 4, 4, 0}, Counts{11, 11, 11, 4});
  EXPECT_EQ(machine.sms()[3].owner, b);
  EXPECT_TRUE(machine.has_events());
  EXPECT_FALSE(machine.is_unsettled(a));
  EXPECT_EQ(dispatched(), "1*16") << "four of them find room";
  EXPECT_EQ(limits(b), (Counts{0, 0, 0, 4}));
}

TEST_F(SmMachineTest, GroupsAreCountedBySm) {
  const KernelId a = arrive(1000);
  machine.set_epoch(Cycles{1000});
  dispatched();
  observe(a, Counts(4, 4), Counts{10, 20, 30, 40});
  observe(a, Counts(4, 4), Counts{11, 22, 33, 44});
  EXPECT_EQ(machine.residents({2})[a.index].counters.thread_instructions, 33U);
  EXPECT_EQ(machine.epoch_instructions(a), 110U);
  EXPECT_EQ(machine.kernels()[0].done, 110U);
}

TEST_F(SmMachineTest, WorkersThatWerePlacedElsewhereAreStartedAgainLater) {
  const KernelId a = arrive(1000);
  dispatched();
  observe(a, Counts{4, 4, 4, 1}, Counts(4, 0));
  EXPECT_EQ(dispatched(), "") << "some may come late";
  EXPECT_EQ(machine.next_alarm(), machine.now() + SmMachine::kRetry);
  machine.set_now(machine.now() + SmMachine::kRetry);
  EXPECT_EQ(dispatched(), "0*3");
}

// Time passes in calls that dispatch nothing too. Where the device has no workers, no other event would come.
TEST_F(SmMachineTest, AnAlarmThatTimeHasPassedIsDueUntilTheNextDispatch) {
  const KernelId a = arrive(1000);
  dispatched();
  observe(a, Counts{4, 4, 4, 1}, Counts(4, 0));
  machine.all_left(a);
  EXPECT_EQ(dispatched(), "");
  const Cycles due = machine.now() + SmMachine::kRetry;
  machine.set_now(due + Cycles{1});
  EXPECT_EQ(machine.next_alarm(), due);
  EXPECT_EQ(dispatched(), "0*16");
  EXPECT_EQ(machine.next_alarm(), std::nullopt);
}

TEST_F(SmMachineTest, AnUndividedLaunchStartsOnceItMayRunSomewhere) {
  const KernelId a = arrive(1000);
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.give({sm}, a, policy::Preempt::drain);
  dispatched();
  const KernelId b = arrive(8, false);
  EXPECT_EQ(dispatched(), "");
  machine.give({0}, b, policy::Preempt::drain);
  observe(a, Counts{0, 4, 4, 4}, Counts(4, 1));
  EXPECT_EQ(dispatched(), "0*0 1*8");
}

TEST_F(SmMachineTest, CapsHoldOnEverySm) {
  const KernelId a = arrive(1000);
  machine.cap({1}, a, 2);
  machine.cap({2}, a, 0);
  EXPECT_EQ(dispatched(), "0*16") << "ten of them find room";
  EXPECT_EQ(limits(a), (Counts{4, 2, 0, 4}));
}

// The SMs on which quotas were spent.
struct SpentQuotas final : policy::Policy {
  void on(const policy::QuotaSpent& e, policy::Machine&) override { sms.push_back(e.sm.index); }
  std::vector<std::uint32_t> sms;
};

TEST_F(SmMachineTest, AQuotaIsANumberOfGroupsThatMayBegin) {
  const KernelId a = arrive(1000);
  EXPECT_EQ(quotas(a), Counts(4, 0)) << "any number";
  EXPECT_FALSE(machine.is_unsettled(a) && machine.quotas(a)[0] != 0);
  machine.set_quota({1}, a, 10);
  machine.set_quota({2}, a, 0);
  dispatched();
  EXPECT_EQ(quotas(a), (Counts{0, 11, 1, 0}));
  EXPECT_TRUE(machine.is_unsettled(a)) << "groups that begin must be counted";
  SpentQuotas policy;
  observe(a, Counts(4, 4), Counts(4, 0), Counts{0, 9, 0, 0});
  machine.deliver_events(policy);
  EXPECT_TRUE(policy.sms.empty());
  EXPECT_EQ(machine.residents({1})[a.index].quota, 1);
  observe(a, Counts(4, 4), Counts(4, 0), Counts{0, 12, 0, 0});
  machine.deliver_events(policy);
  EXPECT_EQ(policy.sms, Counts{1});
  EXPECT_EQ(machine.residents({1})[a.index].quota, 0) << "nothing is owed";
  observe(a, Counts(4, 4), Counts(4, 0), Counts{0, 12, 0, 0});
  EXPECT_FALSE(machine.has_events()) << "told once";
  machine.add_quota({1}, a, 5);
  EXPECT_EQ(dispatched(), "0*0") << "its workers are told";
  EXPECT_EQ(quotas(a)[1], 1U + 12 + 5);
  machine.set_quota({1}, a, policy::kNoQuota);
  machine.add_quota({1}, a, 5);
  EXPECT_EQ(quotas(a)[1], 0U);
}

// A policy that has divided the SMs is not asked again while the same clients launch the same functions.
TEST_F(SmMachineTest, CapsHoldForAllLaunchesOfAClient) {
  const KernelId a = arrive(100);
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.cap({sm}, a, sm);
  machine.finish(a);
  stream = 0;
  EXPECT_EQ(arrive(100), a);
  dispatched();
  EXPECT_EQ(limits(a), (Counts{0, 1, 2, 3}));
  stream = 1;
  const KernelId b = arrive(100);
  EXPECT_EQ(machine.residents({1})[b.index].cap, policy::kNoCap) << "another client";
}

// The workers of a client's launches count on, and a launch may run before the machine knows of it.
TEST_F(SmMachineTest, CountsGoOnFromLaunchToLaunch) {
  const KernelId a = arrive(100);
  EXPECT_TRUE(machine.begin_counts(a));
  dispatched();
  EXPECT_TRUE(machine.take_untold(a));
  observe(a, Counts(4, 4), Counts{20, 20, 20, 20});
  machine.finish(a);
  stream = 0;
  EXPECT_EQ(arrive(200), a);
  EXPECT_FALSE(machine.begin_counts(a));
  EXPECT_EQ(dispatched(), "0*16");
  EXPECT_FALSE(machine.take_untold(a)) << "it may have as many workers as the launch before";
  observe(a, Counts(4, 4), Counts{22, 22, 22, 22});
  EXPECT_EQ(machine.kernels()[0].done, 0U) << "counts from before the launch";
  observe(a, Counts(4, 4), Counts{25, 25, 25, 35});
  EXPECT_EQ(machine.kernels()[0].done, 10U);
  EXPECT_EQ(machine.kernels()[0].instructions, 110U);
}

TEST_F(SmMachineTest, WorkersThatAreMissingAtTheBeginningOfALaunchMayCome) {
  const KernelId a = arrive_now(1000);
  dispatched();
  observe(a, Counts{4, 0, 4, 1}, Counts(4, 0));
  EXPECT_EQ(machine.residents({1})[a.index].resident, 4U);
  machine.set_now(machine.now() + SmMachine::kStarting);
  observe(a, Counts{4, 0, 4, 1}, Counts(4, 0));
  EXPECT_EQ(machine.residents({1})[a.index].resident, 0U);
}

TEST_F(SmMachineTest, GroupsThatWorkersHaveTakenDoNotWait) {
  const KernelId a =
      machine.arrive({.footprint = {512, 0, 0, 1}, .groups = 100, .divisible = true, .stream = ++stream, .chunk = 4});
  machine.set_now(machine.now() + SmMachine::kStarting);
  dispatched();
  observe(a, Counts(4, 4), Counts(4, 5));
  EXPECT_EQ(machine.kernels()[0].waiting, 100U - 20 - 16 * 4);
  // Twelve workers have left, and the others have the last groups.
  observe(a, Counts(4, 1), Counts(4, 22));
  EXPECT_EQ(machine.kernels()[0].waiting, 0U);
  machine.set_now(machine.now() + SmMachine::kRetry);
  EXPECT_EQ(dispatched(), "") << "there is nothing for more workers";
}

TEST_F(SmMachineTest, WorkersThatTheDriverHasNotPlacedAreNotMissing) {
  const KernelId a = arrive(1000);
  dispatched();
  const Counts few{4, 4, 4, 1}, none(4, 0);
  for (int i = 0; i < 2; ++i) {
    machine.observe(a, {few, none, none, 900, true});
    machine.set_now(machine.now() + SmMachine::kRetry - Cycles{1});
    EXPECT_EQ(dispatched(), "");
  }
  machine.set_now(machine.now() + Cycles{1});
  EXPECT_EQ(dispatched(), "0*3");
  machine.observe(a, {few, none, none, 0, false});
  machine.set_now(machine.now() + SmMachine::kRetry);
  EXPECT_EQ(dispatched(), "") << "no group is left for them";
}

TEST_F(SmMachineTest, AClientThatPausedIsNotBehind) {
  const KernelId a = arrive(100);
  machine.set_now(machine.now() + Cycles{1'000'000});
  const double rate = 100.0 / static_cast<double>(machine.now().count);
  machine.finish(a);
  machine.set_now(machine.now() + Cycles{50'000'000});
  stream = 0;
  EXPECT_EQ(arrive_now(100), a);
  EXPECT_DOUBLE_EQ(machine.kernels()[0].history(machine.now()), rate);
}

TEST_F(SmMachineTest, WorkersThatAllLeftAreStartedAgain) {
  const KernelId a = arrive(100);
  dispatched();
  observe(a, Counts(4, 4), Counts{10, 10, 10, 10});
  machine.all_left(a);
  EXPECT_EQ(machine.kernels()[0].resident, 0U);
  EXPECT_EQ(machine.kernels()[0].waiting, 60U);
  EXPECT_EQ(dispatched(), "0*16");
}

TEST_F(SmMachineTest, TheNextLaunchOfAClientHasWhatIsLeftOfItsQuota) {
  const KernelId a = arrive(8);
  machine.set_quota({0}, a, 10);
  dispatched();
  observe(a, Counts{2, 2, 2, 2}, Counts(4, 0), Counts{6, 0, 0, 0});
  machine.finish(a);
  EXPECT_EQ(arrive(8), KernelId{1}) << "another client";
  EXPECT_EQ(quotas({1}), Counts(4, 0));
  stream = 0;
  EXPECT_EQ(arrive(8), a);
  EXPECT_EQ(quotas(a), (Counts{11, 0, 0, 0})) << "in all launches, of which six groups have begun";
  EXPECT_EQ(machine.residents({0})[a.index].quota, 4);
  machine.forget_decisions();
  EXPECT_EQ(quotas(a), Counts(4, 0));
}

// Numbers of groups wrap, and a quota of zero would mean none.
TEST_F(SmMachineTest, AQuotaThatWrapsIsNeverZero) {
  const KernelId a = arrive(1000);
  EXPECT_EQ(dispatched(), "0*16");
  observe(a, Counts(4, 4), Counts(4, 0), {0xffffffff, 0xfffffffe, 0xfffffffd, 0});
  for (std::uint32_t sm = 0; sm < 4; ++sm) machine.set_quota({sm}, a, 0);
  EXPECT_EQ(quotas(a), (Counts{1, 0xffffffff, 0xfffffffe, 1}));
}

TEST_F(SmMachineTest, WorkersLeaveByDrainingOnly) {
  const KernelId a = arrive(1000);
  EXPECT_THROW(machine.give({0}, a, policy::Preempt::switch_context), std::exception);
  machine.give({0}, a, policy::Preempt::drain);
  EXPECT_EQ(machine.sms()[0].owner, a);
}

// A kernel is told apart by its footprint and by the number of its groups.
TEST_F(SmMachineTest, ResourcesOfAKernelWhoseClientHasGoneAreGivenBackOnce) {
  const KernelId small = machine.arrive({.footprint = {512, 0, 0, 1}, .groups = 4, .divisible = true, .stream = 11});
  const KernelId large = machine.arrive({.footprint = {1024, 0, 0, 1}, .groups = 4, .divisible = true, .stream = 12});
  dispatched();
  const std::uint32_t small_groups = machine.holds(small), large_groups = machine.holds(large);
  ASSERT_GT(small_groups, 0U);
  ASSERT_GT(large_groups, 0U);
  const auto free_threads = [&] {
    std::uint32_t all = 0;
    for (const policy::Sm& sm : machine.sms()) all += sm.free.threads;
    return all;
  };
  const std::uint32_t before = free_threads();
  machine.abandon(small);
  machine.abandon(large);
  EXPECT_EQ(free_threads(), before) << "they are still on the device";
  machine.give_back({512, 0, 0, 1}, small_groups + 1);
  machine.give_back({512, 0, 7, 1}, small_groups);
  EXPECT_EQ(free_threads(), before) << "no such kernel";
  machine.give_back({1024, 0, 0, 1}, large_groups);
  EXPECT_EQ(free_threads(), before + 1024 * large_groups);
  machine.give_back({1024, 0, 0, 1}, large_groups);
  EXPECT_EQ(free_threads(), before + 1024 * large_groups) << "once";
  machine.give_back({512, 0, 0, 1}, small_groups);
  EXPECT_EQ(free_threads(), 4U * 2048);
}

TEST_F(SmMachineTest, APartOfAWarpIsAWarp) {
  for (const auto& [threads, warps] : {std::pair{1U, 1U}, {32U, 1U}, {33U, 2U}, {64U, 2U}}) {
    const KernelId id = machine.arrive({.footprint = {threads, 0, 0, 1}, .groups = 4, .stream = ++stream});
    EXPECT_EQ(machine.find(id)->warps_per_block, warps) << threads;
  }
}

}  // namespace
}  // namespace wm::runtime
