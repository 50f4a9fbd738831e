// The timeline of a run on the block machine keeps every block, up to a limit.
#include "lab/run/block_timeline.h"

#include <gtest/gtest.h>

namespace wm::lab {
namespace {

void run_block(BlockTimeline& timeline, std::uint32_t number, std::uint64_t at) {
  timeline.block_began({.sm = 0, .client = 0, .block = number}, at, at, false);
  timeline.block_left({.sm = 0, .client = 0, .block = number}, at + 10, true);
}

TEST(BlockTimeline, IsFullAfterItsLastBlock) {
  sim::Timeline blocks{1000};
  BlockTimeline timeline(blocks, nullptr, BlockTimeline::Kernels::streams, 2);
  run_block(timeline, 0, 0);
  EXPECT_FALSE(timeline.full());
  run_block(timeline, 1, 10);
  EXPECT_TRUE(timeline.full());
}

TEST(BlockTimeline, IsFullWithTheObserverBehindIt) {
  sim::Timeline first{1000};
  BlockTimeline behind(first, nullptr, BlockTimeline::Kernels::streams, 1);
  sim::Timeline second{1000};
  BlockTimeline timeline(second, &behind);
  EXPECT_FALSE(timeline.full());
  run_block(timeline, 0, 0);
  EXPECT_TRUE(timeline.full());
}

}  // namespace
}  // namespace wm::lab
