// Policies by the events that a test sends: who gets which caps at which moment.
#include <gtest/gtest.h>

#include "policy/algorithm/members.h"
#include "policy/script.h"

namespace wm::policy::test {
namespace {

constexpr gpu::Resources kWholeSm{2048, 2048, 0, 1};

// Kernels whose blocks fill an SM take turns of 1000 cycles.
class Turns : public testing::Test {
 protected:
  // The kernels that have the machine in the next turns: one letter each.
  std::string next(int turns) {
    std::string text;
    for (int i = 0; i < turns; ++i) {
      for (const Kernel& k : script_.gpu.kernels())
        if (script_.gpu.on(0, k.id).cap != 0) text += static_cast<char>('a' + k.id.index);
      script_.gpu.settle();
      script_.gpu.set_now(script_.gpu.now().count + 1000);
      script_.send(Wake{});
    }
    return text;
  }
  Script script_{"moving_shares:slice=1000", 1};
};

TEST_F(Turns, GoToTheKernelThatHasUsedLeast) {
  script_.arrive(0, kWholeSm);
  script_.arrive(0, kWholeSm);
  EXPECT_EQ(next(6), "abbaab") << "a block that leaves at the end of a turn counts for the next one, too";
}

TEST_F(Turns, OfAKernelWithTwiceTheShareAreTwiceAsMany) {
  script_.arrive(0, kWholeSm, 2);
  script_.arrive(0, kWholeSm);
  const std::string turns = next(30);
  EXPECT_NEAR(static_cast<double>(std::count(turns.begin(), turns.end(), 'a')), 20, 2);
}

TEST_F(Turns, AreOverAfterASlice) {
  script_.arrive(0, kWholeSm);
  EXPECT_EQ(script_.gpu.taken_wakes(), std::vector<std::uint64_t>{}) << "a kernel by itself has no turns";
  script_.gpu.set_now(1500);
  script_.arrive(0, kWholeSm);
  EXPECT_EQ(script_.gpu.taken_wakes(), std::vector<std::uint64_t>{2500});
  script_.arrive(0, kWholeSm);
  EXPECT_EQ(script_.gpu.taken_wakes(), std::vector<std::uint64_t>{}) << "one timer is enough";
  script_.send(Wake{});
  EXPECT_EQ(script_.gpu.taken_wakes(), std::vector<std::uint64_t>{2500});
}

TEST_F(Turns, OfANewClientAreNoMoreThanThoseOfOthersFromThenOn) {
  script_.arrive(0, kWholeSm);
  script_.arrive(0, kWholeSm);
  next(20);
  script_.arrive(0, kWholeSm);
  const std::string turns = next(30);
  EXPECT_NEAR(static_cast<double>(std::count(turns.begin(), turns.end(), 'c')), 10, 1);
}

TEST_F(Turns, OfAClientThatWasAwayForLongerThanASliceAreNotMadeUpFor) {
  script_.arrive(0, kWholeSm);
  script_.arrive(0, kWholeSm);
  next(4);
  script_.gpu.settle();
  script_.relaunch({1}, 20'000);
  const std::string turns = next(20);
  EXPECT_NEAR(static_cast<double>(std::count(turns.begin(), turns.end(), 'b')), 10, 1);
}

TEST_F(Turns, OfAClientWhoseLaunchesFollowEachOtherAreKept) {
  script_.arrive(0, kWholeSm);
  script_.arrive(0, kWholeSm);
  std::string turns;
  for (int i = 0; i < 20; ++i) {
    turns += next(1);
    script_.relaunch({1});
  }
  EXPECT_NEAR(static_cast<double>(std::count(turns.begin(), turns.end(), 'b')), 10, 3);
}

TEST(AtOnce, AKernelKeepsItsTurnUntilItsSliceIsOver) {
  Script script("moving_shares:slice=1000:at_once=1", 1);
  const gpu::Resources small{128, 2048, 0, 1};
  script.arrive(0, small);
  EXPECT_EQ(script.gpu.caps({0}), "16 ");
  EXPECT_TRUE(script.gpu.taken_wakes().empty()) << "one kernel is not more than one at once";
  script.gpu.settle();
  script.gpu.set_now(1999);
  script.arrive(0, small);
  EXPECT_EQ(script.gpu.caps({0}) + script.gpu.caps({1}), "16 0 ") << "a turn of 1000 cycles began at 1000";
  script.gpu.set_now(2000);
  script.send(Wake{});
  EXPECT_EQ(script.gpu.caps({0}) + script.gpu.caps({1}), "0 16 ");
}

TEST(MovingSharesCaps, ALaunchHasNoBlocksBeforeItsShareIsKnown) {
  Script script("moving_shares", 2);
  script.gpu.add(0);
  script.send(KernelArrived{KernelId{0}});
  EXPECT_EQ(script.gpu.caps({0}), "0 0 ");
}

TEST(MovingSharesCaps, AShareIsNoMoreThanTheLaunchHasBlocks) {
  Script script("moving_shares", 2);
  script.gpu.add(0).waiting = 5;
  script.send(KernelArrived{KernelId{0}});
  script.send(KernelSetChanged{});
  EXPECT_EQ(script.gpu.caps({0}), "3 3 ");
}

// The goal of 20 with a margin of a quarter takes 8.1 of 32 blocks. A launch lasts from cycle 1000 to 2000.
class GoalSharesScript : public testing::Test {
 protected:
  explicit GoalSharesScript(const std::string& policy = "goal_shares:margin=0.25") : script_(policy, 2) {
    Kernel& k = script_.gpu.add(20, {64, 2048, 0, 1});
    k.isolated_ipc = 25 * 32 / 8.1;
    k.arrived = {1000};
    script_.send(KernelArrived{kClient});
    EXPECT_EQ(script_.gpu.caps(kClient), "0 0 ") << "until the division";
    script_.send(KernelSetChanged{});
  }
  // After one more launch with so many instructions.
  std::string caps_after(std::uint64_t instructions, std::uint64_t length = 1000) {
    script_.gpu.kernel(kClient).instructions += instructions;
    script_.gpu.set_now(script_.gpu.now().count + length);
    script_.relaunch(kClient);
    return script_.gpu.caps(kClient);
  }
  static constexpr KernelId kClient{0};
  Script script_;
};

TEST_F(GoalSharesScript, AGoalTakesItsPartOfTheBlocks) { EXPECT_EQ(script_.gpu.caps(kClient), "9 9 "); }

TEST_F(GoalSharesScript, ALaunchAtTheGoalAndItsMarginChangesNothing) { EXPECT_EQ(caps_after(25'000), "9 9 "); }
TEST_F(GoalSharesScript, ALaunchBelowThatGetsWhatItNeeded) {
  EXPECT_EQ(caps_after(24'999), "10 10 ");
  EXPECT_EQ(caps_after(14'000), "18 18 ") << "ten blocks reached 14 of 25";
}
TEST_F(GoalSharesScript, ALaunchAboveThatReturnsWhatItDidNotNeed) {
  EXPECT_EQ(caps_after(28'000), "9 9 ") << "8.04 blocks";
  script_.gpu.kernel(kClient).launch = ~0U;  // the next launch is the first of another client
  caps_after(0);
  EXPECT_EQ(caps_after(28'126), "8 8 ");
}

TEST_F(GoalSharesScript, ALaunchWithoutALengthSaysNothing) { EXPECT_EQ(caps_after(30'001, 0), "9 9 "); }
TEST_F(GoalSharesScript, ALaunchThatDidNothingGetsAll) { EXPECT_EQ(caps_after(0), "32 32 "); }

TEST_F(GoalSharesScript, OneOfAHundredLaunchesMayMiss) {
  EXPECT_EQ(caps_after(12'500), "18 18 ");
  for (int i = 0; i < 98; ++i) EXPECT_EQ(caps_after(50'000), "18 18 ") << "launch " << i;
  EXPECT_EQ(caps_after(50'000), "9 9 ") << "99 of 100 needed nine blocks";
}

class GoalSharesOfThreeLaunches : public GoalSharesScript {
 protected:
  GoalSharesOfThreeLaunches() : GoalSharesScript("goal_shares:margin=0.25:launches=3") {}
};

TEST_F(GoalSharesOfThreeLaunches, OlderLaunchesAreForgotten) {
  EXPECT_EQ(caps_after(12'500), "18 18 ");
  EXPECT_EQ(caps_after(50'000), "18 18 ");
  EXPECT_EQ(caps_after(50'000), "18 18 ");
  EXPECT_EQ(caps_after(50'000), "9 9 ");
}

class GoalSharesOfHalfTheLaunches : public GoalSharesScript {
 protected:
  GoalSharesOfHalfTheLaunches() : GoalSharesScript("goal_shares:margin=0.25:percentile=0.5") {}
};

TEST_F(GoalSharesOfHalfTheLaunches, HalfOfThemMayMiss) {
  EXPECT_EQ(caps_after(12'500), "18 18 ");
  EXPECT_EQ(caps_after(50'000), "9 9 ");
  EXPECT_EQ(caps_after(12'500), "18 18 ") << "two of three needed more";
}

TEST_F(GoalSharesScript, AnotherClientWithTheSameNumberStartsAnew) {
  EXPECT_EQ(caps_after(12'500), "18 18 ");
  script_.gpu.kernel(kClient).launch = ~0U;  // its next launch is the first one
  EXPECT_EQ(caps_after(0), "9 9 ");
}

TEST_F(GoalSharesScript, ALaunchWithFewBlocksTakesNoMoreThanThose) {
  script_.gpu.kernel(kClient).waiting = 5;
  script_.send(KernelSetChanged{});
  EXPECT_EQ(script_.gpu.caps(kClient), "3 3 ");
  script_.gpu.kernel(kClient).waiting = 2;
  script_.gpu.kernel(kClient).resident = 3;
  script_.send(KernelSetChanged{});
  EXPECT_EQ(script_.gpu.caps(kClient), "3 3 ") << "blocks on the SMs count, too";
}

TEST_F(GoalSharesScript, WithoutAnIsolatedRateTheKernelGetsAll) {
  script_.gpu.kernel(kClient).isolated_ipc = 0;
  script_.send(KernelSetChanged{});
  EXPECT_EQ(script_.gpu.caps(kClient), "32 32 ");
  script_.gpu.kernel(kClient).isolated_ipc = 1;
  script_.gpu.kernel(kClient).goal = 0.2;
  script_.send(KernelSetChanged{});
  EXPECT_EQ(script_.gpu.caps(kClient), "8 8 ") << "a rate of 1 is one";
}

TEST_F(GoalSharesScript, OthersDivideTheRest) {
  script_.arrive(0, {64, 2048, 0, 1});
  EXPECT_EQ(script_.gpu.caps({1}), "23 23 ");
  script_.arrive(0, {64, 2048, 0, 1});
  EXPECT_EQ(script_.gpu.caps({1}) + script_.gpu.caps({2}), "12 12 11 11 ");
}

// accelOS binds the workers of a launch when it starts.
class AccelOsScript : public testing::Test {
 protected:
  Script script_{"accelos", 3};
};

TEST_F(AccelOsScript, ALaunchThatEndsLeavesItsWorkersToTheNextOne) {
  script_.arrive(0, {1024, 2048, 0, 1});
  EXPECT_EQ(script_.gpu.caps({0}), "2 2 2 ");
  script_.arrive(0, {1024, 2048, 0, 1});
  EXPECT_EQ(script_.gpu.caps({1}), "0 0 0 ") << "nothing is left";
  script_.gpu.remove({0});
  script_.send(KernelDone{KernelId{0}});
  script_.send(KernelSetChanged{});
  EXPECT_EQ(script_.gpu.caps({1}), "2 2 2 ");
}

// A launch has no more workers than blocks, and what is left belongs to the next one.
TEST_F(AccelOsScript, FewBlocksLeaveTheRestToOthers) {
  Kernel& small = script_.gpu.add(0, {1024, 2048, 0, 1});
  small.blocks = small.waiting = 1;
  script_.send(KernelArrived{KernelId{0}});
  script_.send(KernelSetChanged{});
  EXPECT_EQ(script_.gpu.caps({0}), "1 0 0 ");
  script_.arrive(0, {1024, 2048, 0, 1});
  EXPECT_EQ(script_.gpu.caps({1}), "1 2 2 ");
}

TEST_F(AccelOsScript, SharedMemoryLimitsTheWorkers) {
  script_.arrive(0, {64, 64, 40'000, 1});
  EXPECT_EQ(script_.gpu.caps({0}), "2 2 2 ");
}

// A third of the threads is 2, 1 and 4 blocks, and 512 threads are left for a fifth. In turn each launch places a
// worker on the SM where it has fewest and, among those, most threads are free.
TEST_F(AccelOsScript, WorkersGoWhereTheirLaunchHasFewestAndMostThreadsAreFree) {
  for (const std::uint32_t threads : {1024U, 1536U, 512U}) script_.gpu.add(0, {threads, 64, 0, 1});
  for (const std::uint32_t k : {0U, 1U, 2U}) script_.send(KernelArrived{KernelId{k}});
  script_.send(KernelSetChanged{});
  EXPECT_EQ(script_.gpu.caps({0}), "1 0 1 ");
  EXPECT_EQ(script_.gpu.caps({1}), "0 1 0 ");
  EXPECT_EQ(script_.gpu.caps({2}), "2 1 2 ");

  // The first launch ends: a later one finds room for 4, 0 and 4 blocks of 256 threads.
  script_.gpu.remove({0});
  script_.send(KernelDone{KernelId{0}});
  script_.send(KernelSetChanged{});
  script_.arrive(0, {256, 64, 0, 1});
  EXPECT_EQ(script_.gpu.caps({3}), "4 0 4 ");

  // The third ends, too: then 4, 2 and 4 blocks more.
  script_.gpu.remove({2});
  script_.send(KernelDone{KernelId{2}});
  script_.send(KernelSetChanged{});
  script_.arrive(0, {256, 64, 0, 1});
  EXPECT_EQ(script_.gpu.caps({4}), "4 2 4 ");
}

TEST_F(AccelOsScript, AClientsNextLaunchIsBoundAnew) {
  script_.arrive(0, {1024, 2048, 0, 1});
  script_.arrive(0, {1024, 2048, 0, 1});
  script_.relaunch({0});
  EXPECT_EQ(script_.gpu.caps({0}) + script_.gpu.caps({1}), "1 1 1 1 1 1 ");
}

// Two kernels of one process and one of another.
class FcfsScript : public testing::Test {
 protected:
  FcfsScript() {
    for (const std::uint32_t process : {1U, 1U, 2U}) script_.gpu.add(0).process = process;
    script_.send(KernelSetChanged{});
  }
  void kernels_change() { script_.send(KernelSetChanged{}); }
  Script script_{"fcfs", 2};
};

TEST_F(FcfsScript, TheOldestKernelOwnsEverySmHoweverFewBlocksItHas) {
  EXPECT_EQ(script_.gpu.owners(), "aa");
  Script small("fcfs", 2);
  small.gpu.add(0).waiting = 1;
  small.send(KernelSetChanged{});
  EXPECT_EQ(small.gpu.owners(), "aa");
}

TEST_F(FcfsScript, AnIdleSmGoesToTheNextKernelOfTheProcess) {
  script_.gpu.kernel({0}).waiting = 0;
  script_.gpu.place({0}, {0}, 1);
  script_.send(SmIdle{SmId{1}});
  EXPECT_EQ(script_.gpu.owners(), "ab");
  script_.gpu.place({1}, {1}, 1);
  kernels_change();
  EXPECT_EQ(script_.gpu.owners(), "ab") << "a block of the process runs there";
  script_.gpu.place({1}, {1}, 0);
  script_.gpu.kernel({0}).waiting = 1;
  kernels_change();
  EXPECT_EQ(script_.gpu.owners(), "aa") << "no block runs there, and the oldest kernel has another";
  script_.gpu.kernel({0}).waiting = 0;
  kernels_change();
  EXPECT_EQ(script_.gpu.owners(), "ab") << "the oldest has no more";
}

TEST_F(FcfsScript, TheNextProcessGetsAllSms) {
  script_.gpu.remove({0});
  script_.gpu.remove({1});
  kernels_change();
  EXPECT_EQ(script_.gpu.owners(), "cc");
}

const std::string kAny = std::to_string(kNoCap) + " ";

TEST(MpsScript, PartsOfClientsFollowEachOther) {
  Script script("mps:percentage=40", 5);
  for (std::uint32_t client = 0; client < 3; ++client) {
    Kernel& k = script.gpu.add(0, {128, 2048, 0, 1});
    k.process = client;
    script.send(KernelArrived{k.id});
  }
  EXPECT_EQ(script.gpu.caps({0}), kAny + kAny + "0 0 0 ");
  EXPECT_EQ(script.gpu.caps({1}), "0 0 " + kAny + kAny + "0 ");
  EXPECT_EQ(script.gpu.caps({2}), kAny + "0 0 0 " + kAny) << "from the last SM to the first";
}

TEST(OracleScript, CapsBelongToClientsByTheirNumbers) {
  Script script("oracle:blocks=1/3", 2);
  script.gpu.add(0);
  script.send(KernelSetChanged{});
  EXPECT_EQ(script.gpu.caps({0}), kAny + kAny) << "a kernel by itself has no cap";
  script.gpu.add(0);
  script.gpu.list_backwards();
  script.send(KernelSetChanged{});
  EXPECT_EQ(script.gpu.caps({0}) + script.gpu.caps({1}), "1 1 3 3 ");
}

TEST(PriorityScript, ALaunchHasNoBlocksBeforeTheDivision) {
  Script script("priority_shares", 2);
  script.gpu.add(0).waiting = 5;
  script.send(KernelArrived{KernelId{0}});
  EXPECT_EQ(script.gpu.caps({0}), "0 0 ");
  script.send(KernelSetChanged{});
  EXPECT_EQ(script.gpu.caps({0}), "3 3 ") << "no more than it has blocks";
}

TEST(MembersScript, AnotherFunctionIsNotAnotherClient) {
  ScriptedMachine gpu(4);
  Members members;
  gpu.add(0);
  gpu.add(0);
  EXPECT_TRUE(members.changed(gpu));
  EXPECT_TRUE(members.other_clients());
  EXPECT_FALSE(members.changed(gpu));
  gpu.kernel({1}).function = 7;
  EXPECT_TRUE(members.changed(gpu));
  EXPECT_FALSE(members.other_clients());
  gpu.remove({1});
  gpu.add(0);
  EXPECT_TRUE(members.changed(gpu));
  EXPECT_TRUE(members.other_clients()) << "as many clients, but not the same";
}

}  // namespace
}  // namespace wm::policy::test
