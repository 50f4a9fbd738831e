// accelOS's shares that move with the set of kernels.
#include <algorithm>
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

TEST(MovingShares, ALaunchGivesRoomToANewKernelAndTakesItBack) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "moving_shares", {arrive({.name = "a", .blocks = 4000})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 16U);
  FakeMachine two({.sms = 2});
  drive(two, "moving_shares",
        {arrive({.name = "a", .blocks = 4000}), run(1000), arrive({.name = "b", .blocks = 4000})});
  EXPECT_EQ(two.residents({0})[0].cap, 8U);
  EXPECT_EQ(two.residents({0})[1].cap, 8U);
  FakeMachine again({.sms = 2});
  drive(again, "moving_shares",
        {arrive({.name = "a", .blocks = 4000}), run(1000), arrive({.name = "b", .blocks = 4000}), run(1000), done(1)});
  EXPECT_EQ(again.residents({0})[0].cap, 16U);
}

TEST(MovingShares, SharesMayDiffer) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "moving_shares", {arrive_together({{.name = "a", .share = 3}, {.name = "b"}})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 12U);
  EXPECT_EQ(gpu.residents({0})[1].cap, 4U);
}

// The part that a small launch has no use for goes to its neighbour.
TEST(MovingShares, NoKernelGetsMoreThanItHasBlocks) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "moving_shares", {arrive_together({{.name = "a", .blocks = 4000}, {.name = "b", .blocks = 4}})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 14U);
  EXPECT_EQ(gpu.residents({0})[1].cap, 2U);
}

// Blocks so large that one fills an SM: two kernels cannot be there at once, and take turns.
TEST(MovingShares, KernelsWithoutRoomTakeTurns) {
  FakeMachine gpu({.sms = 1});
  const gpu::BlockDemand full_sm{2048, 16, 0};
  drive(
      gpu, "moving_shares:slice=1000",
      {arrive_together({{.name = "a", .blocks = 50, .block = full_sm}, {.name = "b", .blocks = 50, .block = full_sm}}),
       run(200'000)});
  const auto first = gpu.find(KernelId{0}), second = gpu.find(KernelId{1});
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_GT(first->done, 5U);
  EXPECT_LE(first->done > second->done ? first->done - second->done : second->done - first->done, 2U);
}

// Long launches beside a client of many short ones that follow each other: none of these sends it to the end of the
// line, and it gets as much as the others.
TEST(MovingShares, LaunchesThatFollowEachOtherKeepTheirClaim) {
  FakeMachine gpu({.sms = 1});
  const gpu::BlockDemand full_sm{2048, 16, 0};
  drive(gpu, "moving_shares:slice=1000",
        {arrive_together({{.name = "a", .blocks = 500, .block = full_sm},
                          {.name = "b", .blocks = 500, .block = full_sm},
                          {.name = "c", .blocks = 1, .block = full_sm, .block_instructions = 5000, .launches = 0}}),
         run(400'000)});
  EXPECT_GT(gpu.instructions({2}), 3'000'000U);
  EXPECT_LT(gpu.instructions({2}), 5'000'000U);
}

// Four kernels that would fit beside each other, two at a time: those two have half of it each, and all get as much.
TEST(MovingShares, TurnsOfAFewAtOnce) {
  FakeMachine gpu({.sms = 1});
  drive(gpu, "moving_shares:slice=1000:at_once=2",
        {arrive_together({{.name = "a", .blocks = 4000},
                          {.name = "b", .blocks = 4000},
                          {.name = "c", .blocks = 4000},
                          {.name = "d", .blocks = 4000}})});
  std::uint32_t with = 0;
  for (const ResidentKernel& on_sm : gpu.residents({0})) with += on_sm.cap != 0 ? 1 : 0;
  EXPECT_EQ(with, 2U);
  FakeMachine longer({.sms = 1});
  drive(longer, "moving_shares:slice=1000:at_once=2",
        {arrive_together({{.name = "a", .blocks = 4000},
                          {.name = "b", .blocks = 4000},
                          {.name = "c", .blocks = 4000},
                          {.name = "d", .blocks = 4000}}),
         run(200'000)});
  const auto least = std::min(
      {longer.instructions({0}), longer.instructions({1}), longer.instructions({2}), longer.instructions({3})});
  const auto max_done = std::max(
      {longer.instructions({0}), longer.instructions({1}), longer.instructions({2}), longer.instructions({3})});
  EXPECT_GT(least, 0U);
  EXPECT_LT(max_done - least, max_done / 4);
}

}  // namespace
}  // namespace wm::policy::test
