// QoS by quotas: the examples of the paper's figure 4, its rules, and their effects.
#include <gmock/gmock.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr SmId kSm{0};
constexpr KernelId kQos{0};
constexpr KernelId kOther{1};

// Rates with 1, 2, … blocks that grow by `step` with each.
std::vector<double> rising(double step) {
  std::vector<double> rates;
  for (int blocks = 1; blocks <= 16; ++blocks) rates.push_back(step * blocks);
  return rates;
}

// Figure 4: one SM, a QoS kernel with 100 instructions an epoch and another with 50. Nothing runs by itself; the test
// spends.
class Figure4 : public testing::Test {
 protected:
  void start(const std::string& scheme) {
    gpu_.start("quota:epoch=100:first_ipc=0.5:history=off:scheme=" + scheme);
    gpu_.arrive_together({{.name = "q", .goal = 1}, {.name = "o"}});
  }
  [[nodiscard]] std::int64_t left(KernelId k) const { return gpu_.residents(kSm)[k.index].quota; }
  void end_epoch() {
    gpu_.pass({100});
    gpu_.end_epoch();
  }
  FakeMachine gpu_{{.sms = 1}};
};

TEST_F(Figure4, NaiveRefillsOnlyTheOtherKernelAndDiscardsTheRest) {
  start("naive");
  EXPECT_EQ(left(kQos), 100);
  EXPECT_EQ(left(kOther), 50);
  gpu_.spend(kSm, kOther, 53);  // the last warp took it below 0
  EXPECT_EQ(left(kOther), -3);
  gpu_.spend(kSm, kQos, 100);
  EXPECT_EQ(left(kQos), 0);
  EXPECT_EQ(left(kOther), 47);  // "C_K1 <- 47"
  gpu_.spend(kSm, kOther, 20);
  end_epoch();
  EXPECT_EQ(left(kQos), 100);
  EXPECT_EQ(left(kOther), 73);  // its rate of the last epoch, and not the 27 it had left
}

TEST_F(Figure4, NaiveLosesWhatTheQosKernelDidNotUse) {
  start("naive");
  gpu_.spend(kSm, kQos, 70);
  end_epoch();
  EXPECT_EQ(left(kQos), 100);
}

TEST_F(Figure4, ElasticBeginsTheNextEpochForBoth) {
  start("elastic");
  gpu_.spend(kSm, kQos, 100);
  EXPECT_EQ(left(kQos), 0) << "the other kernel has not spent its quota yet";
  gpu_.spend(kSm, kOther, 53);
  EXPECT_EQ(left(kQos), 100);
  EXPECT_EQ(left(kOther), 47);
}

TEST(Quota, AKernelWithoutNeighboursHasNoQuota) {
  FakeMachine gpu({.sms = 1});
  gpu.start("quota:epoch=100:first_ipc=0.5:history=off");
  gpu.arrive_together({{.name = "q", .goal = 1}});
  EXPECT_EQ(gpu.residents(kSm)[kQos.index].quota, kNoQuota) << "nobody could use what it leaves";
  gpu.arrive_together({{.name = "o"}});
  EXPECT_EQ(gpu.residents(kSm)[kQos.index].quota, 100);
}

// Section 3.4.4 adds the whole unused quota to the next one, so a kernel that fell behind for long catches up entirely.
TEST(Quota, RolloverKeepsAllUnusedQuotaUntilTheKernelHasCaughtUp) {
  FakeMachine gpu({.sms = 1});
  gpu.start("quota:epoch=1000:adjust=off:history=off");
  gpu.arrive_together({{.name = "q", .blocks = 1000, .block_instructions = 1'000'000, .ipc = {10}, .goal = 20},
                       {.name = "o", .blocks = 1000, .block_instructions = 1'000'000}});
  gpu.run({10'000});
  EXPECT_EQ(gpu.residents(kSm)[0].quota, 10 * 10 * 1'000 + 20 * 1'000) << "the unused part of ten epochs, and the next";
  gpu.become(kQos, {60});
  gpu.run({20'000});
  EXPECT_NEAR(gpu.ipc(kQos), 20, 0.5) << "it has caught up and does not run ahead";
}

// A new epoch is one for the history, too: alpha is that of the moment at which it begins (section 3.4.3).
TEST(Quota, AnEarlyEpochOfElasticHasItsOwnAlpha) {
  FakeMachine gpu({.sms = 1});
  gpu.start("quota:epoch=1000:first_ipc=0.5:scheme=elastic");
  gpu.arrive_together({{.name = "q", .goal = 1}, {.name = "o"}});
  gpu.pass({1250});
  gpu.spend(kSm, kQos, 1000);  // 0.8 of its goal
  gpu.spend(kSm, kOther, 500);
  EXPECT_EQ(gpu.residents(kSm)[0].quota, 1250);
  EXPECT_EQ(gpu.epoch_length().count, 0U) << "the next epoch has begun";
}

TEST(Quota, ElasticBeginsTheNextEpochWhenTheLastSmHasSpentItsQuotas) {
  FakeMachine gpu({.sms = 2});
  gpu.start("quota:epoch=1000:first_ipc=0.5:scheme=elastic");
  gpu.arrive_together({{.name = "q", .goal = 1}, {.name = "o"}});
  gpu.pass({500});
  for (const std::uint32_t sm : {0U, 1U}) {
    EXPECT_EQ(gpu.epoch_length().count, 500U);
    gpu.spend({sm}, kQos, 500);
    gpu.spend({sm}, kOther, 250);
  }
  EXPECT_EQ(gpu.epoch_length().count, 0U);
}

TEST_F(Figure4, RolloverKeepsTheQosKernelsRest) {
  start("rollover");
  gpu_.spend(kSm, kQos, 70);
  gpu_.spend(kSm, kOther, 20);
  end_epoch();
  EXPECT_EQ(left(kQos), 130);
  EXPECT_EQ(left(kOther), 35);  // 0.5 x (0.7 / 1): held back, and its 30 are gone
}

// A kernel that spends a quota for 100 cycles in 108 would never meet its goal.
TEST_F(Figure4, AnEpochThatEndsLateIsMadeUpForInTheNext) {
  start("naive");
  gpu_.spend(kSm, kQos, 100);
  gpu_.pass({108});
  gpu_.end_epoch();
  EXPECT_EQ(left(kQos), 108);
}

TEST_F(Figure4, RolloverTimeLetsTheOtherWaitForTheQosKernel) {
  start("rollover_time");
  EXPECT_EQ(left(kOther), 0);
  gpu_.spend(kSm, kQos, 100);
  EXPECT_EQ(left(kOther), 50);
}

TEST(Quota, HistoryRaisesTheQuotaByWhatWasMissed) {
  FakeMachine gpu({.sms = 1});
  gpu.start("quota:scheme=history:epoch=100:first_ipc=0.5");
  gpu.arrive_together({{.name = "q", .goal = 1}, {.name = "o"}});
  gpu.spend(kSm, kQos, 80);
  gpu.pass({100});
  gpu.end_epoch();
  EXPECT_EQ(gpu.residents(kSm)[0].quota, 125);  // alpha = 1 / 0.8
}

TEST(Quota, LocalQuotasFollowResidentBlocks) {
  FakeMachine gpu({.sms = 4});
  gpu.start("quota:epoch=10000");
  gpu.arrive_together({{.name = "q", .blocks = 6, .block_instructions = 1'000'000, .goal = 12}, {.name = "o"}});
  gpu.pass({10'000});
  gpu.end_epoch();  // 2, 2, 1 and 1 blocks are there; 4 times 30,000 are left, and 120,000 are added
  EXPECT_THAT(gpu.recorder().actions(), HasSubstr("quota sm 0-1 k0 = 80000\n10000 quota sm 2-3 k0 = 40000\n"));
}

// Section 3.4.4 adds the unused quota to the kernel's, of which every SM gets its part. A part that stayed on the SM
// that did not use it would be there in vain while other SMs stop at their own.
TEST(Quota, WhatOneSmLeavesRollsOverToAllSms) {
  FakeMachine gpu({.sms = 2});
  gpu.start("quota:epoch=100:history=off:adjust=off");
  gpu.arrive_together({{.name = "q", .goal = 2}, {.name = "o"}});
  gpu.spend({0}, kQos, 100);
  gpu.spend({1}, kQos, 40);
  gpu.pass({100});
  gpu.end_epoch();
  EXPECT_EQ(gpu.residents({0})[kQos.index].quota, 130);
  EXPECT_EQ(gpu.residents({1})[kQos.index].quota, 130);
}

TEST(Quota, SymmetricBlocks) {
  // The paper's example: a QoS kernel on 16 SMs, two others on 8 each; equal threads on every SM.
  FakeMachine gpu({.sms = 16});
  gpu.start("quota");
  gpu.arrive_together({{.name = "q", .block = {256, 16, 0}, .goal = 10}, {.name = "o"}, {.name = "p"}});
  EXPECT_EQ(gpu.caps({0}), "4444444444444444");
  EXPECT_EQ(gpu.caps({1}), "8888888800000000");
  EXPECT_EQ(gpu.caps({2}), "0000000088888888");
}

// One block of the QoS kernel has 640 threads of its 1024; the rest is room for three more blocks of the other.
TEST(Quota, TheRestOfAnSmBesideEqualThreadsGoesToTheKernelWithoutAGoal) {
  FakeMachine gpu({.sms = 1});
  gpu.start("quota");
  gpu.arrive_together({{.name = "q", .block = {640, 16, 0}, .goal = 10}, {.name = "o", .block = {128, 16, 0}}});
  EXPECT_EQ(gpu.caps(kQos), "1");
  EXPECT_EQ(gpu.caps(kOther), "11");
}

TEST(Quota, Decisions) {
  FakeMachine gpu({.sms = 2, .sm_ipc = 100});
  const auto q = FakeKernel{.name = "q", .blocks = 100'000, .block_instructions = 2000, .ipc = {80}, .goal = 120};
  const auto o = FakeKernel{.name = "o", .blocks = 100'000, .block_instructions = 2000, .ipc = {80}};
  drive(gpu, "quota:first_ipc=40", {arrive_together({q, o}), run(10'000)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 epoch 10000\n"
            "0 > k0 arrived\n"
            "0 > k1 arrived\n"
            "0 cap sm 0-1 k0 at 8\n"
            "0 cap sm 0-1 k1 at 8\n"
            "0 epoch 10000\n"
            "0 quota sm 0-1 k0 = 600000\n"
            "0 quota sm 0-1 k1 = 200000\n"
            "4000 > quota of k1 spent on sm 0\n"
            "4000 > quota of k1 spent on sm 1\n"
            "9000 > quota of k0 spent on sm 0\n"
            "9000 quota sm 0 k1 += 200000\n"
            "9000 > quota of k0 spent on sm 1\n"
            "9000 quota sm 1 k1 += 200000\n"
            "10000 > epoch\n"
            "10000 quota sm 0-1 k0 = 600000\n"    // the goal was met, nothing rolls over
            "10000 quota sm 0-1 k1 = 280000\n");  // instructions of the other kernel, times 1
}

// A service on SMs that are too slow for both: the goal is met exactly, the other gets the rest.
TEST(Quota, RolloverMeetsTheGoalAndNoMore) {
  FakeMachine gpu({.sms = 2, .sm_ipc = 100});
  const auto q = FakeKernel{
      .name = "q", .blocks = 3000, .block_instructions = 2000, .ipc = rising(10), .goal = 120, .launches = 0};
  const auto o = FakeKernel{.name = "o", .blocks = 3000, .block_instructions = 2000, .ipc = {80}, .launches = 0};
  drive(gpu, "quota", {arrive_together({q, o}), run(1'000'000)});
  EXPECT_GE(gpu.ipc({0}), 119.5);
  EXPECT_LE(gpu.ipc({0}), 124);
  EXPECT_GT(gpu.ipc({1}), 60);
}

// A kernel whose speed goes up and down: naive caps the good epochs and never makes good the bad ones (section 3.4.2).
TEST(Quota, FluctuationDefeatsNaiveAndNotRollover) {
  for (const bool rollover : {false, true}) {
    FakeMachine gpu({.sms = 2});
    const auto q = FakeKernel{.name = "q", .blocks = 100'000, .block_instructions = 4000, .ipc = {80}, .goal = 100};
    drive(gpu, rollover ? "quota" : "quota:scheme=naive", {arrive_together({q, {.name = "o", .launches = 0}})});
    for (int i = 0; i < 20; ++i) {
      gpu.become({0}, {i % 2 == 0 ? 35.0 : 80.0});
      gpu.run({10'000});
    }
    EXPECT_EQ(gpu.ipc({0}) >= 99, rollover) << gpu.ipc({0});
  }
}

TEST(Quota, WithoutAnyGoalThereAreNoQuotas) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "quota", {arrive_together({{.name = "a"}, {.name = "b"}}), run(30'000)});
  EXPECT_THAT(gpu.recorder().actions(), Not(HasSubstr("quota")));
}

// Section 3.6: the kernel that gives a block to a QoS kernel that is behind its goal and uses all its warps.
class Adjustment : public testing::Test {
 protected:
  // Both kernels fill the SM: 8 blocks of 128 threads each.
  void start(FakeKernel q, FakeKernel o) {
    q.blocks = o.blocks = 100'000;
    q.block_instructions = o.block_instructions = 1'000'000;
    gpu_.start("quota:epoch=1000");
    gpu_.arrive_together({q, o});
    gpu_.run({1'000});
  }
  FakeMachine gpu_{{.sms = 1}};
};

TEST_F(Adjustment, AKernelWithoutAGoalIsAVictim) {
  start({.name = "q", .ipc = {10}, .goal = 20}, {.name = "o"});
  EXPECT_THAT(gpu_.recorder().actions(), HasSubstr("1000 cap sm 0 k1 at 7\n"
                                                   "1000 preempt sm 0 k1, 1 blocks\n"
                                                   "1000 cap sm 0 k0 at 9\n"));
  gpu_.run({1'000});
  EXPECT_EQ(gpu_.resident(kSm, kQos), 9U);
  EXPECT_EQ(gpu_.resident(kSm, kOther), 7U);
}

TEST_F(Adjustment, IdleWarpsMeanEnoughBlocks) {
  start({.name = "q", .ipc = {10}, .goal = 20, .idle_warps = 8}, {.name = "o"});  // two blocks of four warps
  EXPECT_THAT(gpu_.recorder().actions(), Not(HasSubstr("preempt")));
}

TEST_F(Adjustment, AGoalThatIsMetNeedsNoMore) {
  start({.name = "q", .ipc = {30}, .goal = 20}, {.name = "o"});
  EXPECT_THAT(gpu_.recorder().actions(), Not(HasSubstr("preempt")));
}

TEST_F(Adjustment, AnotherQosKernelGivesIdleBlocks) {
  start({.name = "q", .ipc = {10}, .goal = 20}, {.name = "o", .ipc = {30}, .goal = 29.9, .idle_warps = 8});
  EXPECT_THAT(gpu_.recorder().actions(), HasSubstr("1000 preempt sm 0 k1, 1 blocks\n"));
}

// By itself it ran ahead of its goal: 1 - 1/8 of its rate is still above it.
TEST_F(Adjustment, AnotherQosKernelGivesFromItsMargin) {
  gpu_.start("quota:scheme=elastic:epoch=1000");
  gpu_.arrive({.name = "o", .blocks = 100'000, .block_instructions = 1'000'000, .ipc = {30}, .goal = 10});
  gpu_.run({20'000});
  ASSERT_GT(gpu_.ipc({0}), 20);
  gpu_.arrive({.name = "q", .blocks = 100'000, .block_instructions = 1'000'000, .ipc = {10}, .goal = 20});
  gpu_.run({6'000});
  EXPECT_LT(gpu_.resident(kSm, {0}), 8U);
  EXPECT_GT(gpu_.resident(kSm, {1}), 8U);
}

TEST_F(Adjustment, AnotherQosKernelKeepsItsBlocksWithoutAMargin) {
  start({.name = "q", .ipc = {10}, .goal = 20}, {.name = "o", .ipc = {30}, .goal = 29.9});
  EXPECT_THAT(gpu_.recorder().actions(), Not(HasSubstr("preempt")));
}

TEST_F(Adjustment, TheLastBlockOfAKernelWithoutAGoalStays) {
  start({.name = "q", .ipc = rising(1), .goal = 20}, {.name = "o"});
  gpu_.run({40'000});
  EXPECT_EQ(gpu_.resident(kSm, kQos), 15U);
  EXPECT_EQ(gpu_.resident(kSm, kOther), 1U);
}

// Four SMs, and a QoS kernel that never reaches its goal: how the blocks of the other go.
std::vector<std::uint32_t> blocks_of_the_other(const std::vector<double>& curve) {
  FakeMachine gpu{{.sms = 4}};
  gpu.start("quota:epoch=1000");
  gpu.arrive_together({{.name = "q", .blocks = 100'000, .block_instructions = 1'000'000, .ipc = curve, .goal = 80},
                       {.name = "o", .blocks = 100'000, .block_instructions = 1'000'000}});
  std::vector<std::uint32_t> after;  // each epoch
  for (int epoch = 0; epoch < 60; ++epoch) {
    gpu.run({1'000});
    after.push_back(0);
    for (std::uint32_t sm = 0; sm < 4; ++sm) after.back() += gpu.resident({sm}, kOther);
  }
  return after;
}

TEST(Quota, AKernelWithoutAGoalKeepsABlockSomewhere) {
  const auto left = blocks_of_the_other(rising(1));
  EXPECT_EQ(left.back(), 1U);
}

// The margin rule in the other direction: what was taken while the kernel was behind is returned when it is not.
TEST_F(Adjustment, BlocksReturnWhenTheGoalIsMetWithFewer) {
  start({.name = "q", .ipc = rising(1), .goal = 20}, {.name = "o", .idle_warps = 8});
  gpu_.run({8'000});
  const std::uint32_t taken = gpu_.resident(kSm, kQos);
  ASSERT_GT(taken, 10U);
  gpu_.become(kQos, {80});
  gpu_.run({60'000});
  EXPECT_EQ(gpu_.resident(kSm, kQos), 8U);
  EXPECT_EQ(gpu_.resident(kSm, kOther), 8U) << "no more than it had at first";
}

// A QoS kernel that meets its goal with five of its eight blocks keeps these, and the other one has the rest of the SM.
TEST_F(Adjustment, AKernelThatNeedsFewerBlocksLeavesTheRestToTheOther) {
  start({.name = "q", .ipc = rising(10), .goal = 45}, {.name = "o", .ipc = rising(10)});
  gpu_.run({199'000});
  EXPECT_EQ(gpu_.resident(kSm, kQos), 5U);
  EXPECT_EQ(gpu_.resident(kSm, kOther), 11U);
  EXPECT_GE(gpu_.ipc(kQos), 44.9);
}

// The last block of a launch leaves most of its part free, and the QoS kernel, which is behind, takes it. No block was
// preempted for that, but the next launch needs the part again.
TEST_F(Adjustment, TheNextLaunchGetsItsPartBackFromAKernelThatMeetsItsGoal) {
  gpu_.start("quota:epoch=1000:first_ipc=1000");
  gpu_.arrive_together(
      {{.name = "q", .blocks = 1000, .block_instructions = 1'000'000, .ipc = {80}, .goal = 20},
       {.name = "o", .blocks = 9, .block_instructions = 50'000, .ipc = {100}, .launches = 0, .idle_warps = 8}});
  for (int i = 0; i < 100 && gpu_.resident(kSm, kOther) != 1; ++i) gpu_.run({100});
  ASSERT_EQ(gpu_.resident(kSm, kOther), 1U) << "of nine blocks eight run first";
  gpu_.become(kQos, rising(1));
  gpu_.become(kOther, {1});
  gpu_.run({8'000});
  ASSERT_GT(gpu_.resident(kSm, kQos), 12U);
  gpu_.become(kQos, {80});
  gpu_.become(kOther, {100});
  gpu_.run({2'000});
  ASSERT_LT(gpu_.resident(kSm, kOther), 8U) << "the next launch has begun";
  gpu_.run({28'000});
  EXPECT_EQ(gpu_.resident(kSm, kQos), 8U);
  EXPECT_EQ(gpu_.caps(kOther), "8");
}

// "One more TB will be allocated": a kernel that lacks less than a block takes no more than one from its neighbour.
TEST(Quota, AKernelLittleBehindItsGoalTakesOneBlock) {
  FakeMachine gpu{{.sms = 16}};
  gpu.start("quota:epoch=1000");
  gpu.arrive_together({{.name = "q", .blocks = 1000, .block_instructions = 1'000'000, .ipc = {10}, .goal = 160.4},
                       {.name = "o", .blocks = 1000, .block_instructions = 1'000'000}});
  gpu.run({1'900});
  std::uint32_t others = 0;
  for (std::uint32_t sm = 0; sm < 16; ++sm) others += gpu.resident({sm}, kOther);
  EXPECT_EQ(others, 16 * 8 - 1);
}

TEST_F(Adjustment, BlocksDoNotReturnWhereEachIsNeeded) {
  start({.name = "q", .ipc = rising(2), .goal = 24}, {.name = "o"});  // needs 12 blocks
  gpu_.run({200'000});
  EXPECT_GE(gpu_.resident(kSm, kQos), 12U);
  EXPECT_GE(gpu_.ipc(kQos), 23.5);
}

// Its L1 holds what eight blocks need: with more it is slower, and its goal stays out of reach.
TEST_F(Adjustment, BlocksThatMakeAKernelSlowerReturn) {
  start({.name = "q", .ipc = {2, 4, 6, 8, 10, 12, 14, 16, 15, 14, 13, 12, 11, 10, 9, 8}, .goal = 20}, {.name = "o"});
  std::uint32_t max_blocks = 0;
  for (int epoch = 0; epoch < 200; ++epoch) {
    gpu_.run({1'000});
    max_blocks = std::max(max_blocks, gpu_.resident(kSm, kQos));
  }
  EXPECT_LE(max_blocks, 10U) << "two are tried";
  EXPECT_EQ(gpu_.resident(kSm, kQos), 8U);
  EXPECT_EQ(gpu_.resident(kSm, kOther), 8U);
}

TEST(Quota, BlocksAreNotTakenForAKernelThatDoesNoMoreWithThem) {
  const auto left = blocks_of_the_other({10});
  EXPECT_EQ(left.front(), 32U);
  EXPECT_EQ(*std::min_element(left.begin(), left.end()), 24U) << "two of each SM are tried";
  EXPECT_EQ(left.back(), 32U);
}

// More warps would only wait for a load/store unit that memory holds up.
TEST_F(Adjustment, AKernelThatFillsTheLoadStoreUnitGetsNoMoreBlocks) {
  start({.name = "q", .ipc = {10}, .goal = 20, .lsu_blocked = 0.75}, {.name = "o"});
  EXPECT_THAT(gpu_.recorder().actions(), Not(HasSubstr("preempt")));
}

// Behind from its first epoch, but its quota holds it back now: a block more does not help, and the one it took
// returns.
TEST_F(Adjustment, AKernelThatSpendsItsQuotaGetsNoMoreBlocks) {
  gpu_.start("quota:scheme=naive:epoch=1000");
  gpu_.arrive_together({{.name = "q", .blocks = 1000, .block_instructions = 1'000'000, .ipc = {10}, .goal = 20},
                        {.name = "o", .blocks = 1000, .block_instructions = 1'000'000}});
  gpu_.run({1'000});
  EXPECT_EQ(gpu_.caps(kQos), "9");
  gpu_.become(kQos, {30});
  gpu_.run({5'000});
  EXPECT_LT(gpu_.ipc(kQos), 20);
  EXPECT_EQ(gpu_.caps(kQos), "8");
}

// The other was there first and fills the SM. Held to a small quota its blocks would not end for a long time.
TEST_F(Adjustment, BlocksAboveTheirCapMakeRoom) {
  gpu_.start("quota:epoch=1000");
  gpu_.arrive({.name = "o", .blocks = 1000, .block_instructions = 1'000'000'000, .idle_warps = 8});
  gpu_.run({5'000});
  const KernelId q = gpu_.arrive({.name = "q", .blocks = 1000, .block_instructions = 1'000'000, .goal = 20});
  gpu_.run({3'000});
  EXPECT_EQ(gpu_.resident(kSm, q), 8U);
}

// Its first function has one large block on an SM, its second one small blocks: an equal part of the threads again, for
// which blocks of the other kernel make room at once.
TEST(Quota, AnotherFunctionGetsAnEqualPartOfTheThreadsAgain) {
  FakeMachine gpu{{.sms = 1}};
  gpu.start("quota:epoch=1000:adjust=off");
  gpu.arrive_together({{.name = "q",
                        .blocks = 9,
                        .block = {.threads = 640, .registers_per_thread = 32, .shared_bytes = 0},
                        .block_instructions = 1'000,
                        .goal = 20,
                        .launches = 0,
                        .next_block = gpu::BlockDemand{.threads = 128, .registers_per_thread = 32, .shared_bytes = 0}},
                       {.name = "o",
                        .blocks = 1000,
                        .block = {.threads = 128, .registers_per_thread = 32, .shared_bytes = 0},
                        .block_instructions = 1'000'000'000}});
  EXPECT_EQ(gpu.caps(kQos), "1");
  EXPECT_EQ(gpu.caps(kOther), "11");
  gpu.run({3'000});
  EXPECT_EQ(gpu.caps(kQos), "8");
  EXPECT_EQ(gpu.resident(kSm, kOther), 8U);
}

// Launches that end on one SM: an epoch that begins meanwhile must not leave the next launch without a quota elsewhere.
TEST(Quota, TheNextLaunchTakesTheQuotaAlong) {
  for (const char* policy : {"quota:epoch=1000", "quota:scheme=history:epoch=1000"}) {
    FakeMachine gpu{{.sms = 2}};
    gpu.start(policy);
    gpu.arrive_together({{.name = "q", .blocks = 17, .block_instructions = 32 * 700, .goal = 128, .launches = 0},
                         {.name = "o", .blocks = 100'000}});
    gpu.run({100'000});
    EXPECT_GT(gpu.ipc(kQos), 0.98 * 128) << policy;
  }
}

TEST_F(Adjustment, CanBeSwitchedOff) {
  gpu_.start("quota:epoch=1000:adjust=off");
  gpu_.arrive_together({{.name = "q", .blocks = 1000, .ipc = {10}, .goal = 20}, {.name = "o"}});
  gpu_.run({10'000});
  EXPECT_EQ(gpu_.caps(kQos), "8");
}

}  // namespace
}  // namespace wm::policy::test
