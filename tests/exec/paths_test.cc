// The tree of paths, without a program.
#include "exec/paths.h"

#include <gtest/gtest.h>

namespace wm::exec {
namespace {

constexpr std::uint32_t kNone = Path::kNone;

TEST(Paths, ThoseThatStayRunFirstThenThoseThatWentThenAll) {
  Paths p;
  p.reset(0xff, 0);
  p.diverge(0x0f, 10, 1, 20);
  EXPECT_EQ(p.now().pc, 1U);
  EXPECT_EQ(p.now().lanes, 0xf0U);
  p.now().pc = 20;
  p.settle();
  EXPECT_EQ(p.now().pc, 10U);
  EXPECT_EQ(p.now().lanes, 0x0fU);
  p.now().pc = 20;
  p.settle();
  EXPECT_EQ(p.now().pc, 20U);
  EXPECT_EQ(p.now().lanes, 0xffU);
  EXPECT_FALSE(p.diverged());
}

TEST(Paths, ABranchStraightToTheMeetingPointLeavesOnePath) {
  Paths p;
  p.reset(0xff, 0);
  p.diverge(0x0f, 20, 1, 20);
  EXPECT_EQ(p.now().lanes, 0xf0U);
  p.now().pc = 20;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0xffU);
}

TEST(Paths, ALoopThatLosesALaneATimeDoesNotGrow) {
  Paths p;
  p.reset(0xffffffff, 0);
  for (int lane = 0; lane < 31; ++lane) p.diverge(1U << lane, 50, 5, 50);
  EXPECT_LE(p.size(), 2U);
  p.now().pc = 50;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0xffffffffU);
}

TEST(Paths, NestedBranchesMeetInsideOut) {
  Paths p;
  p.reset(0xff, 0);
  p.diverge(0xf0, 100, 1, 200);
  p.diverge(0x0c, 20, 2, 30);
  EXPECT_EQ(p.now().lanes, 0x03U);
  p.now().pc = 30;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0x0cU);
  p.now().pc = 30;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0x0fU);
  EXPECT_EQ(p.now().pc, 30U);
  p.now().pc = 200;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0xf0U);
  p.now().pc = 200;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0xffU);
}

TEST(Paths, LanesThatExitAreMissingWhereTheOthersMeet) {
  Paths p;
  p.reset(0xff, 0);
  p.diverge(0x0f, 10, 1, 20);
  p.exit(0xf0);
  EXPECT_EQ(p.now().lanes, 0x0fU);
  p.now().pc = 20;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0x0fU);
  p.exit(0x0f);
  EXPECT_TRUE(p.done());
}

TEST(Paths, ACallBringsItsLanesBackBehindIt) {
  Paths p;
  p.reset(0xff, 7);
  p.call(0x3f, 100, 1);
  EXPECT_EQ(p.now().pc, 100U);
  EXPECT_EQ(p.now().frame, 1U);
  p.diverge(0x0f, 150, 101, kNone);
  EXPECT_TRUE(p.ret(0x30));
  EXPECT_EQ(p.now().pc, 150U);
  EXPECT_TRUE(p.closed_frames().empty());
  EXPECT_TRUE(p.ret(0x0f));
  EXPECT_EQ(p.now().pc, 8U);
  EXPECT_EQ(p.now().lanes, 0xffU);
  EXPECT_EQ(p.closed_frames(), std::vector<std::uint32_t>{1});
}

TEST(Paths, AReturnWithoutACallIsRefused) {
  Paths p;
  p.reset(0xff, 0);
  EXPECT_FALSE(p.ret(0xff));
}

TEST(Paths, LanesAtAJoinCanBeLetGoAheadAndMeetFurtherOn) {
  Paths p;
  p.reset(0xff, 0);
  p.diverge(0xf0, 100, 1, 200);  // the outer branch
  p.diverge(0x0c, 30, 2, 30);    // lanes 2 and 3 stand at 30
  p.wait(Path::State::warp_wait, 0, 0x0f);
  EXPECT_EQ(p.now().lanes, 0xf0U);
  EXPECT_TRUE(p.let_go());
  EXPECT_EQ(p.now().lanes, 0x0cU);
  EXPECT_EQ(p.now().pc, 30U);
  p.now().pc = 200;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0xf0U);
  p.now().pc = 200;
  p.settle();
  EXPECT_FALSE(p.ready());
  for (std::uint32_t i = 0; i < p.size(); ++i)
    if (p[i].state == Path::State::warp_wait) p.wake(i);
  EXPECT_EQ(p.now().lanes, 0x03U);
  p.now().pc = 30;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0x03U);
  p.now().pc = 200;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0xffU);
}

// Lanes 2 and 3 go ahead of lanes 0 and 1 behind a loop; both come to a wait at 40.
TEST(Paths, ThoseThatWentAheadAreOnePathWithTheOthersOnceBothHaveWaitedAtOnePlace) {
  Paths p;
  p.reset(0x0f, 0);
  p.diverge(0x0c, 30, 2, 30);
  EXPECT_TRUE(p.let_go());
  p.now().pc = 40;
  p.wait(Path::State::block_wait, 0, 0);
  EXPECT_EQ(p.now().lanes, 0x03U);
  p.now().pc = 30;
  p.settle();
  p.now().pc = 40;
  p.wait(Path::State::block_wait, 0, 0);
  EXPECT_FALSE(p.ready());
  for (std::uint32_t i = 0; i < p.size(); ++i)
    if (p[i].state == Path::State::block_wait) p.wake(i);
  EXPECT_EQ(p.now().lanes, 0x0fU);
  EXPECT_FALSE(p.diverged());
  p.exit(0x0f);
  EXPECT_TRUE(p.done());
}

TEST(Paths, ThoseThatWaitedAtDifferentPlacesStayApart) {
  Paths p;
  p.reset(0x0f, 0);
  p.diverge(0x0c, 30, 2, 50);
  p.wait(Path::State::block_wait, 0, 0);
  p.wait(Path::State::block_wait, 0, 0);
  for (std::uint32_t i = 0; i < p.size(); ++i)
    if (p[i].state == Path::State::block_wait) p.wake(i);
  EXPECT_TRUE(p.diverged());
  p.now().pc = 50;
  p.settle();
  p.now().pc = 50;
  p.settle();
  EXPECT_EQ(p.now().lanes, 0x0fU);
}

TEST(Paths, TurnsGoRound) {
  Paths p;
  p.reset(0xff, 0);
  p.diverge(0x0f, 10, 1, kNone);
  EXPECT_EQ(p.now().lanes, 0xf0U);
  p.rotate();
  EXPECT_EQ(p.now().lanes, 0x0fU);
  p.rotate();
  EXPECT_EQ(p.now().lanes, 0xf0U);
}

}  // namespace
}  // namespace wm::exec
