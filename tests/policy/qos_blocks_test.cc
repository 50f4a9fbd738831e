// Blocks of kernels with and without goals, on a machine whose state the test writes by hand.
#include "policy/algorithm/qos_blocks.h"

#include <gtest/gtest.h>

#include "policy/scripted_machine.h"

namespace wm::policy::test {
namespace {

constexpr SmId kFirstSm{0};
constexpr KernelId kWithGoal{0};
constexpr KernelId kWithoutGoal{1};

// A QoS kernel that reached half of its goal so far, and one without a goal; each has 8 of the 16 blocks of every SM.
class QosBlocksTest : public testing::Test {
 protected:
  explicit QosBlocksTest(std::uint32_t sms = 1) : gpu_(sms) {
    gpu_.add(20).instructions = 10'000;
    gpu_.add(0);
    blocks_.allocate(gpu_);
    gpu_.settle();
  }
  // After an epoch in which the QoS kernel had this rate and needed the other one to spend its quota.
  std::string adjusted(double rate, double needed = 20) {
    blocks_.adjust(gpu_, std::vector<Pace>{{rate, needed}, {10, 0}});
    return gpu_.taken_actions();
  }
  // The QoS kernel takes a block on each SM where it may, and is ahead of its goal from then on.
  void grow_and_get_ahead() {
    adjusted(1);
    gpu_.settle();
    gpu_.kernel(kWithGoal).instructions = 20'000;
  }

  ScriptedMachine gpu_;
  QosBlocks blocks_;
};

constexpr const char* kGrowthByABlock = "cap sm 0 k1 at 7; preempt sm 0 k1 1; cap sm 0 k0 at 9; ";
constexpr const char* kReturnOfABlock = "cap sm 0 k0 at 8; preempt sm 0 k0 1; cap sm 0 k1 at 8; ";

TEST_F(QosBlocksTest, AKernelBehindItsGoalTakesABlock) { EXPECT_EQ(adjusted(10), kGrowthByABlock); }

TEST_F(QosBlocksTest, AKernelThatHasReachedItsGoalExactlyTakesNone) {
  gpu_.kernel(kWithGoal).instructions = 20'000;
  EXPECT_EQ(adjusted(10), "");
}

TEST_F(QosBlocksTest, NothingChangesWhileABlockIsLeaving) {
  gpu_.sm(0).leaving = 1;
  EXPECT_EQ(adjusted(10), "");
  gpu_.sm(0).leaving = 0;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

TEST_F(QosBlocksTest, OneWaitingBlockIsEnoughToGrow) {
  gpu_.kernel(kWithGoal).waiting = 0;
  EXPECT_EQ(adjusted(10), "");
  gpu_.kernel(kWithGoal).waiting = 1;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

TEST_F(QosBlocksTest, AQuotaThatIsSpentHoldsTheKernelBack) {
  gpu_.on(0, kWithGoal).quota = 0;
  EXPECT_EQ(adjusted(10), "");
  gpu_.on(0, kWithGoal).quota = 1;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

TEST_F(QosBlocksTest, ASpentQuotaHoldsBackASingleBlock) {
  gpu_.place(kFirstSm, kWithGoal, 1);
  gpu_.on(0, kWithoutGoal).cap = 15;
  gpu_.place(kFirstSm, kWithoutGoal, 15);
  gpu_.on(0, kWithGoal).quota = 0;
  EXPECT_EQ(adjusted(10), "");
}

// A kernel without a block on the SM has no quota there either; its block, which its cap allows, needs room.
TEST_F(QosBlocksTest, AKernelWithoutABlockTakesRoomForOneThatItsCapAllows) {
  gpu_.place(kFirstSm, kWithGoal, 0);
  gpu_.on(0, kWithoutGoal).cap = 16;
  gpu_.place(kFirstSm, kWithoutGoal, 16);
  gpu_.on(0, kWithGoal).quota = 0;
  EXPECT_EQ(adjusted(10), "cap sm 0 k1 at 15; preempt sm 0 k1 1; ");
}

TEST_F(QosBlocksTest, ABlockThatFitsAndThatTheCapAllowsStartsWithoutHelp) {
  gpu_.place(kFirstSm, kWithGoal, 7);
  EXPECT_EQ(adjusted(10), "");
}

TEST_F(QosBlocksTest, BlocksAboveTheirCapLeaveFirst) {
  gpu_.place(kFirstSm, kWithGoal, 7);
  gpu_.place(kFirstSm, kWithoutGoal, 9);
  EXPECT_EQ(adjusted(10), "preempt sm 0 k1 1; ");
}

TEST_F(QosBlocksTest, OneIdleBlockIsNotEnoughToStopTheGrowth) {
  gpu_.on(0, kWithGoal).counters.idle_warps = 8;
  EXPECT_EQ(adjusted(10), "");
  gpu_.on(0, kWithGoal).counters.idle_warps = 7.9;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

TEST_F(QosBlocksTest, MemoryMayHoldUpTheLoadStoreUnitForHalfOfTheEpoch) {
  gpu_.on(0, kWithGoal).counters.lsu_blocked_cycles = 501;
  EXPECT_EQ(adjusted(10), "");
  gpu_.on(0, kWithGoal).counters.lsu_blocked_cycles = 500;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

TEST_F(QosBlocksTest, AKernelGrowsUpToTheBlocksThatAnSmHolds) {
  gpu_.kernel(kWithGoal).max_blocks_per_sm = 8;
  EXPECT_EQ(adjusted(10), "");
  gpu_.kernel(kWithGoal).max_blocks_per_sm = 9;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

// 7/8 of the victim's rate must be above its goal.
TEST_F(QosBlocksTest, AVictimWithAGoalNeedsAMargin) {
  gpu_.kernel(kWithoutGoal).instructions = 16'000;
  gpu_.kernel(kWithoutGoal).goal = 14;
  EXPECT_EQ(adjusted(10), "");
  gpu_.kernel(kWithoutGoal).goal = 13.9;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

TEST_F(QosBlocksTest, AVictimWithoutAMarginNeedsTwoIdleBlocksToLoseOne) {
  gpu_.kernel(kWithoutGoal).instructions = 16'000;
  gpu_.kernel(kWithoutGoal).goal = 16;
  gpu_.on(0, kWithoutGoal).counters.idle_warps = 7.9;
  EXPECT_EQ(adjusted(10), "");
  gpu_.on(0, kWithoutGoal).counters.idle_warps = 8;
  EXPECT_EQ(adjusted(10), kGrowthByABlock);
}

// The SM has room for the QoS kernel's block in all resources but one.
class Shortage : public testing::Test {
 protected:
  // The blocks of the other kernel that leave.
  static std::string leaving_for(gpu::Resources free, gpu::Resources needed = {128, 2048, 1024, 1}) {
    ScriptedMachine gpu(1);
    gpu.add(20, needed).instructions = 10'000;
    gpu.add(0, {64, 1024, 512, 1});
    QosBlocks blocks;
    blocks.allocate(gpu);
    gpu.settle();
    gpu.sm(0).free = free;
    blocks.adjust(gpu, std::vector<Pace>{{10, 20}, {10, 0}});
    const std::string actions = gpu.taken_actions();
    const auto at = actions.find("preempt sm 0 k1 ");
    return at == std::string::npos ? "" : actions.substr(at + 16, actions.find(';', at) - at - 16);
  }
};

TEST_F(Shortage, OfThreads) { EXPECT_EQ(leaving_for({0, 9000, 9000, 9}), "2"); }
TEST_F(Shortage, OfRegisters) { EXPECT_EQ(leaving_for({900, 0, 9000, 9}), "2"); }
TEST_F(Shortage, OfSharedMemory) { EXPECT_EQ(leaving_for({900, 9000, 0, 9}), "2"); }
TEST_F(Shortage, OfBlocks) { EXPECT_EQ(leaving_for({900, 9000, 9000, 0}), "1"); }
TEST_F(Shortage, OfThreadsWithOneFreeBlock) { EXPECT_EQ(leaving_for({64, 9000, 9000, 1}), "1"); }
TEST_F(Shortage, ThatNoVictimCanEndTakesNothing) {
  EXPECT_EQ(leaving_for({0, 9000, 9000, 9}, {2048, 2048, 1024, 1}), "");
}

class QosBlocksOnEightSms : public QosBlocksTest {
 protected:
  QosBlocksOnEightSms() : QosBlocksTest(8) {}
  // The SMs on which the caps of the QoS kernel have grown beyond 8.
  std::string grown() {
    std::string text;
    for (std::uint32_t sm = 0; sm < 8; ++sm) text += gpu_.on(sm, kWithGoal).cap > 8 ? 'x' : '-';
    return text;
  }
};

// It needs twice its goal and lacks 64 x (40 / rate - 1) blocks.
TEST_F(QosBlocksOnEightSms, AKernelTakesAsManyBlocksAsItLacks) {
  adjusted(40 / (1 + 1.5 / 64));
  EXPECT_EQ(grown(), "xx------");
}

TEST_F(QosBlocksOnEightSms, AKernelThatLacksMuchTakesOneBlockPerSm) {
  adjusted(1);
  EXPECT_EQ(grown(), "xxxxxxxx");
  EXPECT_EQ(gpu_.caps(kWithGoal), "9 9 9 9 9 9 9 9 ");
}

// In every epoch it lacks less than a block, and the block of the last one helped.
TEST_F(QosBlocksOnEightSms, TheNextEpochBeginsAQuarterOfTheSmsFurther) {
  double rate = 39.5;
  for (const char* expected :
       {"9 8 8 8 8 8 8 8 ", "9 8 9 8 8 8 8 8 ", "9 8 9 8 9 8 8 8 ", "9 8 9 8 9 8 9 8 ", "10 8 9 8 9 8 9 8 "}) {
    adjusted(rate += 0.05);
    gpu_.settle();
    EXPECT_EQ(gpu_.caps(kWithGoal), expected);
  }
}

// An SM on which the kernel may not grow does not use up the one block that it may take.
class Obstacle : public QosBlocksOnEightSms {
 protected:
  void expect_growth_on_the_second_sm() {
    adjusted(39.9);
    EXPECT_EQ(grown(), "-x------");
  }
};

TEST_F(Obstacle, IdleWarps) {
  gpu_.on(0, kWithGoal).counters.idle_warps = 8;
  expect_growth_on_the_second_sm();
}

TEST_F(Obstacle, ABusyLoadStoreUnit) {
  gpu_.on(0, kWithGoal).counters.lsu_blocked_cycles = 900;
  expect_growth_on_the_second_sm();
}

TEST_F(Obstacle, NoVictim) {
  gpu_.place(kFirstSm, kWithoutGoal, 0);
  gpu_.sm(0).free = {};
  expect_growth_on_the_second_sm();
}

TEST_F(Obstacle, AnSmThatHoldsNoMore) {
  gpu_.kernel(kWithGoal).max_blocks_per_sm = 9;
  gpu_.on(0, kWithGoal).cap = 9;
  gpu_.place(kFirstSm, kWithGoal, 9);
  gpu_.on(0, kWithoutGoal).cap = 7;
  gpu_.place(kFirstSm, kWithoutGoal, 7);
  adjusted(39.9);
  EXPECT_EQ(grown(), "xx------");
}

TEST_F(Obstacle, ABlockThatIsAboutToStart) {
  gpu_.place(kFirstSm, kWithGoal, 7);
  expect_growth_on_the_second_sm();
}

// Twice in a row its rate less a block is above its goal.
TEST_F(QosBlocksTest, ABlockReturnOfABlocksAfterTwoEpochsWithAMargin) {
  grow_and_get_ahead();
  EXPECT_EQ(adjusted(30), "");
  EXPECT_EQ(adjusted(30), kReturnOfABlock);
  gpu_.settle();
  gpu_.on(0, kWithoutGoal).counters.idle_warps = 8;
  EXPECT_EQ(adjusted(30) + adjusted(30), "") << "no more than it took, to a kernel that does not use its warps";
}

// A QoS kernel that has met its goal so far and would meet it with a block less, beside one that uses all its warps.
class Surplus : public QosBlocksTest {
 protected:
  Surplus() { gpu_.kernel(kWithGoal).instructions = 20'000; }
  std::string adjusted_twice() { return adjusted(30) + adjusted(30); }
};

TEST_F(Surplus, GoesToAKernelThatUsesAllItsWarps) {
  EXPECT_EQ(adjusted(30), "");
  EXPECT_EQ(adjusted(30), "cap sm 0 k0 at 7; preempt sm 0 k0 1; cap sm 0 k1 at 9; ");
}

TEST_F(Surplus, StaysWithAKernelThatIsBehindOverItsLife) {
  gpu_.kernel(kWithGoal).instructions = 19'999;
  gpu_.on(0, kWithGoal).counters.idle_warps = 8;  // nor does it take one
  EXPECT_EQ(adjusted_twice(), "");
}

TEST_F(Surplus, StaysWithoutAMargin) { EXPECT_EQ(adjusted(22.8) + adjusted(22.8), ""); }  // 7/8 of it are 19.95

TEST_F(Surplus, DoesNotGoToAKernelWithIdleBlocks) {
  gpu_.on(0, kWithoutGoal).counters.idle_warps = 8;
  EXPECT_EQ(adjusted_twice(), "");
  gpu_.on(0, kWithoutGoal).counters.idle_warps = 7.9;
  EXPECT_NE(adjusted(30), "");
}

TEST_F(Surplus, DoesNotGoWhereMemoryHoldsUpTheLoadStoreUnit) {
  gpu_.on(0, kWithoutGoal).counters.lsu_blocked_cycles = 501;
  EXPECT_EQ(adjusted_twice(), "");
  gpu_.on(0, kWithoutGoal).counters.lsu_blocked_cycles = 500;
  EXPECT_NE(adjusted(30), "");
}

TEST_F(Surplus, DoesNotGoToAKernelThatItsQuotaHeldBack) {
  gpu_.on(0, kWithoutGoal).quota = 0;
  EXPECT_EQ(adjusted_twice(), "");
}

TEST_F(Surplus, DoesNotGoBeyondTheBlocksThatAnSmHolds) {
  gpu_.kernel(kWithoutGoal).max_blocks_per_sm = 8;
  EXPECT_EQ(adjusted_twice(), "");
}

TEST_F(Surplus, DoesNotGoToAKernelThatMayStartABlockAlready) {
  gpu_.place(kFirstSm, kWithoutGoal, 7);
  EXPECT_EQ(adjusted_twice(), "");
}

// Section 3.6 gives every kernel without a goal its own part of the SMs.
TEST_F(Surplus, DoesNotGoToAKernelThatHasNoPartOfTheSm) {
  gpu_.on(0, kWithoutGoal).cap = 0;
  gpu_.place(kFirstSm, kWithoutGoal, 0);
  gpu_.place(kFirstSm, kWithGoal, 16);
  EXPECT_EQ(adjusted_twice(), "");
}

TEST_F(QosBlocksTest, ABlockIsPreemptedOnlyByAMachineThatCan) {
  grow_and_get_ahead();
  gpu_.set_cans(Cans::all().without({Can::switch_some}));
  EXPECT_EQ(adjusted(30) + adjusted(30), "cap sm 0 k0 at 8; cap sm 0 k1 at 8; ");
}

TEST_F(QosBlocksTest, ABlockThatFitsReturnsWithoutPreemption) {
  grow_and_get_ahead();
  gpu_.place(kFirstSm, kWithoutGoal, 6);
  EXPECT_EQ(adjusted(30) + adjusted(30), "cap sm 0 k0 at 9; cap sm 0 k1 at 8; ");
}

TEST_F(QosBlocksTest, WithoutAMarginNothingReturns) {
  grow_and_get_ahead();
  EXPECT_EQ(adjusted(20) + adjusted(20) + adjusted(20), "");
}

// It is ahead of its goal, but a part of its quota is left from epochs in which it was not.
TEST_F(QosBlocksTest, NothingReturnsWhileAQuotaIsNotSpent) {
  grow_and_get_ahead();
  EXPECT_EQ(adjusted(30, 27) + adjusted(30, 27) + adjusted(30, 27), "");
  EXPECT_EQ(adjusted(30, 26) + adjusted(30, 26), kReturnOfABlock);
}

TEST_F(QosBlocksTest, NothingReturnsFromALaunchWhoseLastBlocksRun) {
  grow_and_get_ahead();
  gpu_.kernel(kWithGoal).waiting = 0;
  EXPECT_EQ(adjusted(30) + adjusted(30), "");
  gpu_.kernel(kWithGoal).waiting = 1;
  EXPECT_EQ(adjusted(30), kReturnOfABlock);
}

TEST_F(QosBlocksTest, OneWaitingBlockIsEnoughForAReturn) {
  grow_and_get_ahead();
  gpu_.kernel(kWithoutGoal).waiting = 0;
  EXPECT_EQ(adjusted(30) + adjusted(30), "");
  gpu_.kernel(kWithoutGoal).waiting = 1;
  EXPECT_EQ(adjusted(30), kReturnOfABlock);
}

TEST_F(QosBlocksTest, NothingReturnsWhereTheOthersQuotaIsSpent) {
  grow_and_get_ahead();
  gpu_.on(0, kWithoutGoal).quota = 0;
  EXPECT_EQ(adjusted(30) + adjusted(30), "");
  gpu_.on(0, kWithoutGoal).quota = 1;
  EXPECT_EQ(adjusted(30), kReturnOfABlock);
}

TEST_F(QosBlocksTest, ASpentQuotaOfOneBlockHoldsTheOtherBack) {
  grow_and_get_ahead();
  gpu_.on(0, kWithoutGoal).quota = 0;
  gpu_.place(kFirstSm, kWithoutGoal, 1);
  EXPECT_EQ(adjusted(30) + adjusted(30), "");
  gpu_.place(kFirstSm, kWithoutGoal, 0);
  EXPECT_NE(adjusted(30), "") << "without a block it has no quota";
}

// The rate is below the goal with a block less; two blocks of the kernel are idle, of which one may go.
TEST_F(QosBlocksTest, IdleBlocksReturn) {
  grow_and_get_ahead();
  gpu_.on(0, kWithGoal).counters.idle_warps = 7.9;
  EXPECT_EQ(adjusted(20) + adjusted(20), "");
  gpu_.on(0, kWithGoal).counters.idle_warps = 8;
  EXPECT_EQ(adjusted(20), kReturnOfABlock);
}

TEST_F(QosBlocksOnEightSms, BlocksReturnOnAQuarterOfTheSmsPerEpoch) {
  grow_and_get_ahead();
  adjusted(60);
  EXPECT_EQ(grown(), "xxxxxxxx");
  adjusted(60);
  EXPECT_EQ(grown(), "xxxx--xx") << "the third epoch begins at the fifth SM";
}

TEST(QosBlocks, TheRestOfAnSmDoesNotGoToAKernelWithAGoal) {
  ScriptedMachine gpu(1);
  gpu.add(20);
  gpu.add(0, {640, 2048, 0, 1});
  QosBlocks blocks;
  blocks.allocate(gpu);
  EXPECT_EQ(gpu.caps(kWithGoal), "8 ");
  EXPECT_EQ(gpu.caps(kWithoutGoal), "1 ");
}

TEST(QosBlocks, KernelsWithoutAGoalDivideTheSmsInTheOrderOfTheirNumbers) {
  ScriptedMachine gpu(4);
  gpu.add(20);
  gpu.add(0);
  gpu.add(0);
  gpu.list_backwards();
  QosBlocks blocks;
  blocks.allocate(gpu);
  EXPECT_EQ(gpu.caps({1}), "8 8 0 0 ");
  EXPECT_EQ(gpu.caps({2}), "0 0 8 8 ");
  blocks.divide_again(gpu);
  EXPECT_EQ(gpu.caps({1}), "8 8 0 0 ");
  EXPECT_EQ(gpu.caps({2}), "0 0 8 8 ");
}

class Enforcement : public testing::Test {
 protected:
  // The other kernel fills the SM when the QoS kernel with these blocks arrives.
  std::string allocated(std::uint32_t others, std::uint32_t waiting, std::uint32_t resident = 0) {
    gpu_.add(20).waiting = waiting;
    gpu_.add(0);
    gpu_.place(kFirstSm, kWithGoal, resident);
    gpu_.place(kFirstSm, kWithoutGoal, others);
    blocks_.allocate(gpu_);
    return gpu_.taken_actions();
  }
  ScriptedMachine gpu_{1};
  QosBlocks blocks_;
  const std::string caps_ = "cap sm 0 k0 at 8; cap sm 0 k1 at 8; ";
};

TEST_F(Enforcement, BlocksAboveTheirCapsLeaveAtOnceWhereTheyKeepAnotherKernelOut) {
  EXPECT_EQ(allocated(16, 100), caps_ + "preempt sm 0 k1 8; ");
}

TEST_F(Enforcement, BlocksStayWhileTheWaitingBlocksFit) { EXPECT_EQ(allocated(14, 2), caps_); }
TEST_F(Enforcement, BlocksLeaveForTheFirstWaitingBlockThatDoesNotFit) {
  EXPECT_EQ(allocated(14, 3), caps_ + "preempt sm 0 k1 6; ");
}
TEST_F(Enforcement, BlocksStayWhileAllThatTheCapAllowsFit) { EXPECT_EQ(allocated(8, 100, 6), caps_); }

// The other kernel continues with a function of 384 threads per block: two of its blocks beside the nine that the QoS
// kernel has reached.
TEST_F(QosBlocksTest, ANewFunctionLeavesTheOtherKernelWhatItHasGained) {
  adjusted(10);
  gpu_.kernel(kWithoutGoal).footprint = {384, 6144, 0, 1};
  blocks_.divide_again(gpu_);
  EXPECT_EQ(gpu_.caps(kWithGoal), "9 ");
  EXPECT_EQ(gpu_.caps(kWithoutGoal), "2 ");
}

TEST_F(QosBlocksTest, ALargerFunctionTakesFromTheKernelWithMostBlocks) {
  adjusted(10);
  gpu_.kernel(kWithoutGoal).footprint = {256, 4096, 0, 1};
  blocks_.divide_again(gpu_);
  EXPECT_EQ(gpu_.caps(kWithGoal), "8 ");
  EXPECT_EQ(gpu_.caps(kWithoutGoal), "4 ");
}

// The kernel without a goal is the older one: it gets the rest of the SM, too.
TEST(QosBlocks, TheRestGoesToAnOlderKernelWithoutAGoal) {
  ScriptedMachine gpu(1);
  gpu.add(0);
  gpu.add(20, {640, 2048, 0, 1});
  QosBlocks blocks;
  blocks.allocate(gpu);
  blocks.divide_again(gpu);
  EXPECT_EQ(gpu.caps({0}), "11 ");
  EXPECT_EQ(gpu.caps({1}), "1 ");
}

}  // namespace
}  // namespace wm::policy::test
