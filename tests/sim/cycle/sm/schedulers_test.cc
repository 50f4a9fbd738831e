// Warp schedulers: which of the warps that can issue does.
#include <gtest/gtest.h>

#include "components/names.h"
#include "components/warp_schedulers.h"
#include "sim/cycle/sm/scheduler_state.h"

namespace wm::sim {
namespace {

using Ages = std::array<WarpMask, kMaxWarps>;

// Warps by age, the oldest first.
Ages came_in_order(std::initializer_list<std::uint32_t> warps) {
  Ages older{};
  WarpMask so_far = 0;
  for (const std::uint32_t w : warps) {
    older[w] = so_far;
    so_far |= WarpMask{1} << w;
  }
  return older;
}

TEST(Gto, StaysWithItsWarpAsLongAsThatCanIssue) {
  const Ages older = came_in_order({2, 0, 1});
  EXPECT_EQ(schedulers::Gto{}.pick({0b111, 1, older}), 1U);
}

TEST(Gto, TakesTheOldestWhereItsWarpCannotIssue) {
  const Ages older = came_in_order({2, 0, 1});
  EXPECT_EQ(schedulers::Gto{}.pick({0b101, 1, older}), 2U);
  EXPECT_EQ(schedulers::Gto{}.pick({0b011, kNoWarp, older}), 0U);
}

TEST(Lrr, TakesTheNextByNumberAndBeginsAgainBehindTheLast) {
  const Ages older{};
  EXPECT_EQ(schedulers::Lrr{}.pick({0b1011, 1, older}), 3U);
  EXPECT_EQ(schedulers::Lrr{}.pick({0b1011, 3, older}), 0U);
  EXPECT_EQ(schedulers::Lrr{}.pick({WarpMask{1} << 63 | 1, 63, older}), 0U);
}

TEST(TwoLevel, LeavesItsGroupOnlyWhenNoneOfItCanIssue) {
  const Ages older{};
  schedulers::TwoLevel scheduler;
  EXPECT_EQ(scheduler.pick({0b1'0000'0110, 1, older}), 2U) << "round robin within warps 0 to 7";
  EXPECT_EQ(scheduler.pick({0b1'0000'0010, 2, older}), 1U) << "warp 8 is of the next group";
  EXPECT_EQ(scheduler.pick({0b1'0000'0000, 1, older}), 8U);
  EXPECT_EQ(scheduler.pick({0b10'0000'0010, 8, older}), 9U) << "now its group is active";
}

// The promises of every scheduler, those found by the build later included.
TEST(WarpSchedulers, PickACandidateAndTheGreedyOnesTheLastThatIssued) {
  for (const std::string_view name : components::kWarpSchedulers) {
    AnyWarpScheduler scheduler = make_warp_scheduler(name);
    const Ages older = came_in_order({5, 9, 3, 60});
    std::uint32_t last = kNoWarp;
    for (const WarpMask candidates :
         {WarpMask{1} << 5 | WarpMask{1} << 9, WarpMask{1} << 60, WarpMask{1} << 3 | WarpMask{1} << 60}) {
      const WarpChoice choice{candidates, last, older};
      const std::uint32_t picked = std::visit([&](auto& s) { return s.pick(choice); }, scheduler);
      EXPECT_TRUE(choice.can_issue(picked)) << name;
      const bool stays = is_greedy(scheduler) && choice.can_issue(last);
      EXPECT_TRUE(!stays || picked == last) << name;
      last = picked;
    }
  }
}

}  // namespace
}  // namespace wm::sim
