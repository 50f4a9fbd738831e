// Clients have the whole machine in turn.
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

// A launch fills two SMs for 1,563 cycles.
FakeKernel launches_again(const std::string& name) {
  return {.name = name, .blocks = 2, .block = {2048, 16, 0}, .block_instructions = 50'000, .launches = 0};
}

std::uint64_t done_since(const FakeMachine& gpu, std::uint32_t kernel, std::uint64_t before) {
  return gpu.blocks_done({kernel}) - before;
}

TEST(TurnsPolicy, OneClientMayStartBlocks) {
  FakeMachine gpu({.sms = 2});
  std::vector<int> seen(3);
  gpu.after_each_step([&](const FakeMachine& machine) {
    int open = 0;
    for (std::uint32_t k = 0; k < 3; ++k) open += machine.caps({k}) == "**" ? 1 : 0;
    ++seen[std::min(open, 2)];
  });
  drive(gpu, "turns:at_once=1:turn=5000:first=1000",
        {arrive_together({launches_again("a"), launches_again("b"), launches_again("c")}), run(100'000)});
  EXPECT_EQ(seen[0], 0);
  EXPECT_GT(seen[1], 900);
  EXPECT_EQ(seen[2], 0);
}

TEST(TurnsPolicy, ClientsHaveEqualParts) {
  FakeMachine gpu({.sms = 2});
  FakeKernel longer = launches_again("b");
  longer.block_instructions *= 4;
  drive(gpu, "turns:at_once=1:turn=5000:first=1000", {arrive_together({launches_again("a"), longer}), run(400'000)});
  const auto a = static_cast<double>(gpu.instructions({0})), b = static_cast<double>(gpu.instructions({1}));
  EXPECT_GT(a + b, 0.9 * 400'000 * 2 * 32) << "the machine is not left idle";
  EXPECT_NEAR(a / b, 1, 0.05);
}

TEST(TurnsPolicy, AShareIsAWeight) {
  FakeMachine gpu({.sms = 2});
  FakeKernel three = launches_again("a");
  three.share = 3;
  drive(gpu, "turns:at_once=1:turn=5000:first=1000", {arrive_together({three, launches_again("b")}), run(400'000)});
  EXPECT_NEAR(static_cast<double>(gpu.instructions({0})) / static_cast<double>(gpu.instructions({1})), 3, 0.2);
}

// The longest turn is 100,000 cycles, but one that waits for a client that has just come is 1,000.
TEST(TurnsPolicy, AShortProgramDoesNotWaitForALongTurn) {
  FakeMachine gpu({.sms = 2});
  FakeKernel once = launches_again("b");
  once.launches = 1;
  drive(gpu, "turns:at_once=1:turn=100000:first=1000:growth=0.5",
        {arrive(launches_again("a")), run(300'000), arrive(once), run(1'000 + 3 * 1'700)});
  EXPECT_EQ(gpu.find({1}), nullptr) << "it has ended";
}

TEST(TurnsPolicy, ANewClientHasNeitherCreditNorDebt) {
  FakeMachine gpu({.sms = 2});
  gpu.start("turns:at_once=1:turn=5000:first=1000");
  gpu.arrive(launches_again("a"));
  gpu.run(Cycles{300'000});
  gpu.arrive(launches_again("b"));
  const std::uint64_t before = gpu.blocks_done({0});
  gpu.run(Cycles{100'000});
  EXPECT_NEAR(static_cast<double>(done_since(gpu, 0, before)), static_cast<double>(gpu.blocks_done({1})), 8);
}

TEST(TurnsPolicy, AClientThatWasAwayHasNeitherCreditNorDebt) {
  FakeMachine gpu({.sms = 2});
  gpu.start("turns:at_once=1:turn=5000:first=1000:pause=2000");
  FakeKernel many_blocks = launches_again("b");
  many_blocks.blocks = 2'000;
  gpu.arrive_together({launches_again("a"), many_blocks});
  gpu.run(Cycles{50'000});
  gpu.finish({1});
  gpu.run(Cycles{300'000});  // a is served 300,000 cycles more
  gpu.relaunch({1});
  const std::uint64_t a = gpu.blocks_done({0}), b = gpu.blocks_done({1});
  gpu.run(Cycles{300'000});
  EXPECT_NEAR(static_cast<double>(done_since(gpu, 0, a)), static_cast<double>(done_since(gpu, 1, b)), 20);
  EXPECT_GT(done_since(gpu, 0, a), 20U) << "it does not wait until b was served as much";
}

TEST(TurnsPolicy, HigherPrioritiesComeFirst) {
  FakeMachine gpu({.sms = 2});
  FakeKernel important = launches_again("b");
  important.priority = 1;
  drive(gpu, "turns:at_once=1:turn=5000:first=1000", {arrive_together({launches_again("a"), important}), run(100'000)});
  EXPECT_LE(gpu.blocks_done({0}), 2U);
  EXPECT_GT(gpu.blocks_done({1}), 100U);
}

TEST(TurnsPolicy, AtOnceLetsOthersStartBehindTheFirst) {
  FakeMachine gpu({.sms = 2});
  gpu.start("turns:at_once=2:turn=5000:first=1000");
  gpu.arrive_together({launches_again("a"), launches_again("b"), launches_again("c")});
  gpu.run(Cycles{100});
  int open = 0;
  for (std::uint32_t k = 0; k < 3; ++k) open += gpu.caps({k}) == "**" ? 1 : 0;
  EXPECT_EQ(open, 2);
}

TEST(TurnsPolicy, OthersStartBehindALaunchThatDoesNotFillTheMachine) {
  FakeMachine gpu({.sms = 2});
  FakeKernel half = launches_again("a");
  half.blocks = 1;
  gpu.start("turns:at_once=1:turn=5000:first=1000");
  gpu.arrive_together({half, half, launches_again("c")});
  gpu.run(Cycles{100});
  EXPECT_EQ(gpu.caps({0}), "**");
  EXPECT_EQ(gpu.caps({1}), "**");
  EXPECT_EQ(gpu.caps({2}), "00") << "both halves are taken";
}

// With the parameters that users get.
TEST(TurnsPolicy, ClientsBehindTheFirstAreServedToo) {
  FakeMachine gpu({.sms = 2});
  FakeKernel longer = launches_again("b");
  longer.block_instructions *= 10;
  drive(gpu, "turns", {arrive_together({launches_again("a"), longer}), run(4'000'000)});
  const auto a = static_cast<double>(gpu.instructions({0})), b = static_cast<double>(gpu.instructions({1}));
  EXPECT_NEAR(a / b, 1, 0.1);
}

TEST(TurnsPolicy, ALaunchOfManyBlocksGivesWay) {
  FakeMachine gpu({.sms = 2});
  FakeKernel endless = launches_again("a");
  endless.blocks = 1'000'000;
  endless.launches = 1;
  drive(gpu, "turns", {arrive(endless), run(100'000), arrive(launches_again("b")), run(2'000'000)});
  const auto a = static_cast<double>(gpu.instructions({0})), b = static_cast<double>(gpu.instructions({1}));
  EXPECT_NEAR(a / b, 1.1, 0.2);
}

TEST(TurnsPolicy, SharesAreWeightsWithTwoClientsAtOnce) {
  FakeMachine gpu({.sms = 2});
  FakeKernel three = launches_again("a");
  three.share = 3;
  drive(gpu, "turns:turn=5000:first=1000", {arrive_together({three, launches_again("b")}), run(400'000)});
  EXPECT_NEAR(static_cast<double>(gpu.instructions({0})) / static_cast<double>(gpu.instructions({1})), 3, 0.3);
}

TEST(TurnsPolicy, TheSmallestParametersEnd) {
  for (const char* policy : {"turns:first=1", "turns:first=3:at_once=1", "turns:turn=1000"}) {
    FakeMachine gpu({.sms = 2});
    FakeKernel important = launches_again("b");
    important.priority = 1;
    drive(gpu, policy, {arrive_together({launches_again("a"), important}), run(20'000)});
    EXPECT_GT(gpu.blocks_done({1}), 10U) << policy;
  }
}

// A long launch of one block goes on beside the turns of others, which it hardly keeps from the machine.
TEST(TurnsPolicy, TimeBesideOthersIsChargedByBlocks) {
  FakeMachine gpu({.sms = 2});
  FakeKernel narrow = launches_again("a");
  narrow.blocks = 1;
  narrow.block = {64, 16, 0};
  narrow.block_instructions = 40'000;
  FakeKernel wide = launches_again("b");
  wide.block = {1024, 16, 0};
  wide.blocks = 4;
  drive(gpu, "turns:at_once=1:turn=2000:first=1000", {arrive_together({narrow, wide, wide}), run(400'000)});
  EXPECT_GT(gpu.blocks_done({0}), 290U) << "it is served as an isolated one";
}

// Two clients, of which the first has its turn and ends a launch.
void end_launch_in_turn(FakeMachine& gpu, const std::string& policy) {
  gpu.start(policy);
  FakeKernel many_blocks = launches_again("b");
  many_blocks.blocks = 2'000;
  gpu.arrive_together({many_blocks, many_blocks});
  gpu.run(Cycles{100});
  ASSERT_EQ(gpu.caps({0}), "**");
  gpu.finish({0});
}

TEST(TurnsPolicy, AClientKeepsItsTurnBetweenLaunches) {
  FakeMachine gpu({.sms = 2});
  end_launch_in_turn(gpu, "turns:at_once=1:turn=50000:first=10000:wait=500");
  gpu.run(Cycles{400});
  EXPECT_EQ(gpu.caps({1}), "00");
  gpu.relaunch({0});
  gpu.run(Cycles{1000});
  EXPECT_EQ(gpu.caps({1}), "00");
  EXPECT_EQ(gpu.caps({0}), "**");
}

TEST(TurnsPolicy, AnIdleClientKeepsItsTurnNoLongerThanWait) {
  FakeMachine gpu({.sms = 2});
  end_launch_in_turn(gpu, "turns:at_once=1:turn=50000:first=10000:wait=500");
  gpu.run(Cycles{600});
  EXPECT_EQ(gpu.caps({1}), "**");
}

TEST(TurnsPolicy, AClientThatPausesIsNotWaitedForAgain) {
  FakeMachine gpu({.sms = 2});
  end_launch_in_turn(gpu, "turns:at_once=1:turn=50000:first=10000:wait=500");
  gpu.run(Cycles{20'000});
  gpu.relaunch({0});
  gpu.run(Cycles{100});
  ASSERT_EQ(gpu.caps({0}), "**") << "it was served less";
  gpu.finish({0});
  gpu.run(Cycles{100});
  EXPECT_EQ(gpu.caps({1}), "**");
}

TEST(TurnsPolicy, NoOneIsWaitedForBesideAHigherPriority) {
  FakeMachine gpu({.sms = 2});
  end_launch_in_turn(gpu, "turns:at_once=1:turn=50000:first=10000:wait=500");
  FakeKernel important = launches_again("c");
  important.priority = 1;
  gpu.arrive(important);
  gpu.run(Cycles{100});
  EXPECT_EQ(gpu.caps({2}), "**");
}

TEST(TurnsPolicy, WaitingCountsAsService) {
  FakeMachine gpu({.sms = 2});
  end_launch_in_turn(gpu, "turns:at_once=1:turn=50000:first=1000:growth=0:wait=5000");
  gpu.run(Cycles{1100});
  EXPECT_EQ(gpu.caps({1}), "**") << "the turn is over, though not the time to wait";
}

}  // namespace
}  // namespace wm::policy::test
