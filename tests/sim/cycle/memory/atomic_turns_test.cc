// The turns of a warp's atomic at a slice, as probes on an H200 show them: lanes / sharing pattern.
#include "sim/cycle/memory/atomic_turns.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

// The turns of 32 lanes of which `sharing` neighbours meet on a word of line 3.
std::uint32_t turns(std::uint32_t sharing, bool combined = false) {
  exec::PendingAtomic atomic;
  atomic.lanes = 0xffffffff;
  for (std::uint32_t lane = 0; lane < 32; ++lane) atomic.address[lane] = 3 * kLineBytes + lane / sharing * 4;
  return atomic_turns(atomic, 3, combined).turns;
}

TEST(AtomicTurns, WordsOfASectorShareATurnAndLanesOnAWordDoNot) {
  EXPECT_EQ(turns(1), 4U);  // four sectors
  EXPECT_EQ(turns(2), 4U);  // two sectors, two lanes on each word
  EXPECT_EQ(turns(4), 4U);
  EXPECT_EQ(turns(8), 8U);
  EXPECT_EQ(turns(32), 32U);
}

TEST(AtomicTurns, LanesThatAreCombinedTakeOneTurn) { EXPECT_EQ(turns(32, true), 1U); }

TEST(AtomicTurns, LanesInOtherLinesDoNotCount) {
  exec::PendingAtomic atomic;
  atomic.lanes = 0x7;
  atomic.address = {3 * kLineBytes, 3 * kLineBytes + 4, 4 * kLineBytes};
  const AtomicTurns here = atomic_turns(atomic, 3 | LineAddress{1} << kClientShift, false);
  EXPECT_EQ(here.lanes, 0x3U);
  EXPECT_EQ(here.turns, 1U);
}

}  // namespace
}  // namespace wm::sim
