// Priorities and goals by block caps.
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

TEST(PriorityShares, TheHighestPriorityGetsTheMachine) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "priority_shares",
        {arrive({.name = "a", .blocks = 4000}), run(1000), arrive({.name = "b", .blocks = 4000, .priority = 1})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 0U);
  EXPECT_EQ(gpu.residents({0})[1].cap, 16U);
}

TEST(PriorityShares, ALowerPriorityGetsWhatIsLeftAndItAllAfterwards) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "priority_shares",
        {arrive_together({{.name = "a", .blocks = 4000}, {.name = "b", .blocks = 8, .priority = 1}})});
  EXPECT_EQ(gpu.residents({0})[1].cap, 4U);
  EXPECT_EQ(gpu.residents({0})[0].cap, 12U);
  FakeMachine after({.sms = 2});
  drive(after, "priority_shares",
        {arrive_together({{.name = "a", .blocks = 4000}, {.name = "b", .blocks = 8, .priority = 1}}), run(1000),
         done(1)});
  EXPECT_EQ(after.residents({0})[0].cap, 16U);
}

TEST(PriorityShares, KernelsOfOnePriorityShare) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "priority_shares", {arrive_together({{.name = "a", .share = 3}, {.name = "b"}})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 12U);
  EXPECT_EQ(gpu.residents({0})[1].cap, 4U);
}

TEST(GoalShares, AGoalTakesItsPartOfTheMachine) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "goal_shares:margin=0",
        {arrive_together(
            {{.name = "a", .blocks = 4000, .goal = 250, .isolated_ipc = 1000}, {.name = "b", .blocks = 4000}})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 4U) << "a quarter of the 16 blocks that an SM holds";
  EXPECT_EQ(gpu.residents({0})[1].cap, 12U);
}

TEST(GoalShares, WithoutAKnownIsolatedRateTheGoalGetsEverything) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "goal_shares",
        {arrive_together({{.name = "a", .blocks = 4000, .goal = 250}, {.name = "b", .blocks = 4000}})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 16U);
  EXPECT_EQ(gpu.residents({0})[1].cap, 0U);
}

// The isolated rate promises 32 IPC per block; blocks deliver half of that, so launches miss the goal and get more.
TEST(GoalShares, ALaunchThatMissedItsGoalGetsMoreTheNextTime) {
  const std::vector<double> half{16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256};
  FakeMachine gpu({.sms = 2});
  drive(gpu, "goal_shares",
        {arrive_together({{.name = "a", .blocks = 64, .ipc = half, .goal = 256, .isolated_ipc = 1024, .launches = 0},
                          {.name = "b", .blocks = 4000}}),
         run(400'000)});
  EXPECT_GE(gpu.residents({0})[0].cap, 8U) << "eight blocks per SM reach the goal; five were expected to";
}

}  // namespace
}  // namespace wm::policy::test
