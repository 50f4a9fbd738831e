#include "sim/block/sm_unit.h"

#include <gtest/gtest.h>

#include "sim/block/calendar.h"

namespace wm::sim {
namespace {

std::vector<BlockWork> left_at(SmUnit& sm, std::uint64_t now) {
  std::vector<BlockWork> all;
  sm.collect_left(now, [&](std::span<const SmUnit::Leaving> left) {
    for (const SmUnit::Leaving& l : left) all.push_back(l.work);
  });
  return all;
}

KernelModel kernel(std::uint32_t blocks_per_sm, double saturation = 1) {
  KernelModel k;
  k.max_blocks_per_sm = blocks_per_sm;
  k.unhindered_rate = static_cast<std::uint64_t>(static_cast<double>(kOne) / saturation);
  k.demand = k.unhindered_rate / blocks_per_sm;
  return k;
}

BlockWork work(std::uint64_t cycles, std::uint32_t block = 0) { return {block, cycles << kFraction}; }

std::vector<std::uint32_t> ended_at(SmUnit& sm, std::uint64_t now) {
  std::vector<std::uint32_t> blocks;
  sm.collect_ended(now, [&](std::uint32_t, std::uint32_t block, std::uint64_t) { blocks.push_back(block); });
  return blocks;
}

TEST(SmUnit, ABlockEndsAfterItsWorkAndNotBefore) {
  SmUnit sm(kOne);
  sm.start(0, kernel(2), work(100, 7), 10, 10);
  EXPECT_EQ(sm.next_event(), 110U);
  EXPECT_TRUE(ended_at(sm, 109).empty());
  EXPECT_EQ(ended_at(sm, 110), std::vector<std::uint32_t>{7});
  EXPECT_EQ(sm.next_event(), kNoEvent);
}

TEST(SmUnit, ASetupDelaysTheWork) {
  SmUnit sm(kOne);
  sm.start(0, kernel(2), work(100), 10, 40);
  EXPECT_EQ(sm.next_event(), 140U);
}

TEST(SmUnit, BlocksEndInTheOrderOfTheirWork) {
  SmUnit sm(kOne);
  sm.start(0, kernel(4), work(300, 0), 0, 0);
  sm.start(0, kernel(4), work(100, 1), 0, 0);
  sm.start(0, kernel(4), work(200, 2), 0, 0);
  EXPECT_EQ(sm.next_event(), 100U);
  EXPECT_EQ(ended_at(sm, 250), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(sm.next_event(), 300U);
}

// Two kernels that each fill the SM with two blocks, two blocks each: together they demand twice its capacity.
TEST(SmUnit, BlocksThatAskForTwiceTheSmWorkAtHalfTheirRate) {
  SmUnit sm(kOne);
  for (std::uint32_t i = 0; i < 2; ++i) sm.start(0, kernel(2), work(100, i), 0, 0);
  for (std::uint32_t i = 0; i < 2; ++i) sm.start(1, kernel(2), work(100, 10 + i), 0, 0);
  EXPECT_EQ(sm.next_event(), 200U);
}

// After 50 cycles beside the other kernel the first has half its work left, and then the SM to itself.
TEST(SmUnit, ABlockSpeedsUpWhenOthersLeave) {
  SmUnit sm(kOne);
  sm.start(0, kernel(1), work(100, 0), 0, 0);
  sm.start(1, kernel(1), work(25, 1), 0, 0);
  EXPECT_EQ(ended_at(sm, 50), std::vector<std::uint32_t>{1});
  EXPECT_EQ(sm.next_event(), 50U + 75);
}

// With a saturation of one half, half of the blocks that fit do the work of all: each runs twice as fast.
TEST(SmUnit, FewerBlocksOfASaturatingKernelRunFaster) {
  SmUnit sm(kOne);
  for (std::uint32_t i = 0; i < 2; ++i) sm.start(0, kernel(4, 0.5), work(100, i), 0, 0);
  EXPECT_EQ(sm.next_event(), 50U);
  for (std::uint32_t i = 2; i < 4; ++i) sm.start(0, kernel(4, 0.5), work(100, i), 0, 0);
  EXPECT_EQ(sm.next_event(), 100U);
}

// One block of a kernel with a saturation of a tenth fills the SM five times: it works at twice its mean rate, but only
// after a setup that takes as long as that of any kernel.
TEST(SmUnit, ASetupTakesAsLongOnAContendedSm) {
  SmUnit sm(kOne);
  sm.start(0, kernel(2, 0.1), work(100), 10, 40);
  EXPECT_EQ(sm.next_event(), 40U + 50);
}

// The second block arrives in the middle of the first one's setup and halves its rate, not the rest of its setup. The
// first ends after 100 cycles at half of its rate; the second has then 40 cycles of work left, for itself.
TEST(SmUnit, AChangeOfRateDoesNotChangeASetupUnderWay) {
  SmUnit sm(kOne);
  sm.start(0, kernel(1), work(100, 0), 0, 40);
  sm.start(1, kernel(1), work(150, 1), 20, 20);
  EXPECT_EQ(sm.next_event(), 40U + 200);
  EXPECT_EQ(ended_at(sm, 240), std::vector<std::uint32_t>{0});
  EXPECT_EQ(sm.next_event(), 240U + 40);
}

// 3 blocks of 64 bytes at 2 bytes a cycle: 96 cycles from the decision on. Each keeps its remaining work.
TEST(SmUnit, ContextsLeaveAtTheSmsShareOfBandwidth) {
  SmUnit sm(2 * kOne);
  for (std::uint32_t i = 0; i < 3; ++i) sm.start(0, kernel(4), work(100 + i, i), 0, 0);
  std::uint64_t done = 0;
  EXPECT_EQ(sm.stop(0, 99, 64, 40, 53, true, [&](std::uint64_t w) { done += w >> kFraction; }).saved, 3U);
  EXPECT_EQ(done, 3U * 40);
  EXPECT_EQ(sm.next_event(), 53U + 96);
  EXPECT_TRUE(left_at(sm, 53 + 95).empty());
  std::vector<std::uint64_t> cycles_left;
  for (const BlockWork& w : left_at(sm, 53 + 96)) cycles_left.push_back(w.left >> kFraction);
  EXPECT_EQ(cycles_left, (std::vector<std::uint64_t>{62, 61, 60}));
}

// The SM's setup ends at 40. Stopped at 39, the block has no context to save and leaves with the decision, at 45; a
// cycle of work later, at 41, its 64 bytes take 64 cycles from the decision on.
TEST(SmUnit, ABlockThatHasNotWorkedLeavesWithoutASave) {
  for (const std::uint64_t now : {39U, 41U}) {
    SmUnit sm(kOne);
    sm.start(0, kernel(2), work(100, 7), 10, 40);
    const SmUnit::Stopped stopped = sm.stop(0, 99, 64, now, 45, false, [](std::uint64_t) {});
    const std::uint64_t left = now == 39 ? 45 : 45 + 64;
    EXPECT_EQ(stopped.blocks, 1U);
    EXPECT_EQ(stopped.saved, now == 39 ? 0U : 1U);
    EXPECT_EQ(sm.next_event(), left);
    EXPECT_TRUE(left_at(sm, left - 1).empty());
    const auto all = left_at(sm, left);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().left >> kFraction, now == 39 ? 100U : 99U);
  }
}

// Restores of 32 cycles each from cycle 10 on: the first block works from 42, the others would work from 74 and 106. At
// 50 the first one is saved in 32 cycles, without a wait for the other two, and the port is free for the next restore.
TEST(SmUnit, RestoresOfBlocksThatAreStoppedAreAbandoned) {
  SmUnit sm(2 * kOne);
  for (std::uint32_t i = 0; i < 3; ++i) sm.start(0, kernel(4), work(100, i), 10, sm.restore(64, 10));
  const SmUnit::Stopped stopped = sm.stop(0, 99, 64, 50, 50, false, [](std::uint64_t) {});
  EXPECT_EQ(stopped.blocks, 3U);
  EXPECT_EQ(stopped.saved, 1U);
  EXPECT_EQ(left_at(sm, 50).size(), 2U);
  EXPECT_TRUE(left_at(sm, 81).empty());
  EXPECT_EQ(left_at(sm, 82).size(), 1U);
  EXPECT_EQ(sm.restore(64, 60), 82U + 32);
}

// The second block is the one that is restored last. It is stopped at 50, and the first one's restore goes on until 74.
TEST(SmUnit, TheRestoreOfABlockThatStaysGoesOn) {
  SmUnit sm(2 * kOne);
  EXPECT_EQ(sm.restore(64, 10), 42U);
  for (std::uint32_t i = 0; i < 2; ++i) sm.start(0, kernel(4), work(100, i), 10, sm.restore(64, 10));
  EXPECT_EQ(sm.stop(0, 1, 64, 50, 50, false, [](std::uint64_t) {}).saved, 0U);
  EXPECT_EQ(left_at(sm, 50).front().block, 1U);
  EXPECT_EQ(sm.restore(64, 60), 74U + 32);
  EXPECT_EQ(sm.next_event(), 174U);
}

TEST(SmUnit, OfSomeBlocksThoseWithMostWorkLeftAreStopped) {
  SmUnit sm(kOne);
  for (std::uint32_t i = 0; i < 3; ++i) sm.start(0, kernel(4), work(100 * (i + 1), i), 0, 0);
  EXPECT_EQ(sm.stop(0, 1, 8, 50, 50, false, [](std::uint64_t) {}).blocks, 1U);
  const auto left = left_at(sm, 58);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().block, 2U);
  EXPECT_EQ(sm.next_event(), 100U);
}

// Blocks that start together are not in the order of their ends until something asks for it.
TEST(SmUnit, BlocksThatStartTogetherAreStoppedByWorkLeft) {
  for (const std::vector<std::uint64_t>& cycles :
       {std::vector<std::uint64_t>{300, 100, 400, 200}, {400, 300, 200, 100}, {100, 200, 300, 400}}) {
    SmUnit sm(kOne);
    std::uint32_t next = 0;
    sm.start(0, kernel(4), 4, 0, [&] {
      const std::uint32_t block = next++;
      return SmUnit::Started{work(cycles[block], block), 0};
    });
    EXPECT_EQ(sm.next_event(), 100U);
    EXPECT_EQ(sm.last_end(), 400U);
    EXPECT_EQ(sm.stop(0, 3, 8, 50, 50, false, [](std::uint64_t) {}).blocks, 3U);
    std::vector<std::uint64_t> cycles_left;
    for (const BlockWork& w : left_at(sm, 50 + 3 * 8)) cycles_left.push_back(w.left >> kFraction);
    EXPECT_EQ(cycles_left, (std::vector<std::uint64_t>{350, 250, 150}));
    EXPECT_EQ(sm.next_event(), 100U);
  }
}

TEST(SmUnit, BlocksThatEndTogetherEndInTheOrderOfTheirStarts) {
  SmUnit sm(kOne);
  std::uint32_t next = 0;
  sm.start(0, kernel(4), 4, 0, [&] {
    const std::uint32_t block = next++;
    return SmUnit::Started{work(block == 1 ? 50 : 100, block), 0};
  });
  EXPECT_EQ(ended_at(sm, 100), (std::vector<std::uint32_t>{1, 0, 2, 3}));
}

TEST(SmUnit, OnlyBlocksThatEndedBeforeTheCycleAreDropped) {
  SmUnit sm(kOne);
  std::uint32_t next = 0;
  sm.start(0, kernel(4), 4, 0, [&] {
    const std::uint32_t block = next++;
    return SmUnit::Started{work(400 - 100 * block, block), 0};
  });
  const auto cycles = [](std::uint64_t w) { return w >> kFraction; };
  const WorkGroup::Dropped first = sm.drop_ended_before(200, cycles);
  EXPECT_EQ(first.blocks, 1U);
  EXPECT_EQ(first.sum, 100U);
  EXPECT_EQ(sm.next_event(), 200U);
  const WorkGroup::Dropped others = sm.drop_ended_before(301, cycles);
  EXPECT_EQ(others.blocks, 2U);
  EXPECT_EQ(others.sum, 500U);
  EXPECT_EQ(sm.next_event(), 400U);
}

TEST(SmUnit, RestoresFollowEachOther) {
  SmUnit sm(2 * kOne);
  EXPECT_EQ(sm.restore(64, 10), 42U);
  EXPECT_EQ(sm.restore(64, 10), 74U);
  EXPECT_EQ(sm.restore(64, 100), 132U);
}

TEST(Calendar, TheEarliestWinsAndAmongEqualsTheFirst) {
  Calendar c(5);
  for (std::uint32_t i = 0; i < 5; ++i) c.set(i, 100 - i);
  EXPECT_EQ(c.first(), 4U);
  c.set(1, 96);
  EXPECT_EQ(c.first(), 1U);
  c.set(1, 200);
  c.set(4, 300);
  EXPECT_EQ(c.first(), 3U);
  EXPECT_EQ(c.earliest(), 97U);
}

}  // namespace
}  // namespace wm::sim
