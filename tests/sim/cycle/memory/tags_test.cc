#include "sim/cycle/memory/tags.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace wm::sim {
namespace {

TEST(Tags, ASectorIsPresentOnlyAfterItsFill) {
  Tags tags({.sets = 4, .ways = 2});
  EXPECT_EQ(tags.lookup(9, 0xf), 0);
  tags.fill(9, 0x3, false);
  EXPECT_EQ(tags.lookup(9, 0xf), 0x3);
  tags.fill(9, 0x4, false);
  EXPECT_EQ(tags.lookup(9, 0xf), 0x7);
}

TEST(Tags, TheLeastRecentlyUsedLineOfASetGoes) {
  Tags tags({.sets = 1, .ways = 2});
  tags.fill(1, 1, false);
  tags.fill(2, 1, false);
  EXPECT_EQ(tags.lookup(1, 1), 1) << "1 is used again, so 2 is the older";
  tags.fill(3, 1, false);
  EXPECT_EQ(tags.peek(1, 1), 1);
  EXPECT_EQ(tags.peek(2, 1), 0);
}

TEST(Tags, OnlyDirtySectorsOfAnEvictedLineAreWrittenBack) {
  Tags tags({.sets = 1, .ways = 1});
  tags.fill(1, 0xf, false);
  EXPECT_EQ(tags.write(1, 0x2), 0x2);
  const Tags::Evicted evicted = tags.fill(2, 1, false);
  EXPECT_EQ(evicted.line, 1U);
  EXPECT_EQ(evicted.dirty, 0x2);
  EXPECT_EQ(tags.fill(3, 1, false).dirty, 0);
}

TEST(Tags, TwoClientsNeverShareALine) {
  Tags tags({.sets = 8, .ways = 4});
  const LineAddress a = (std::uint64_t{1} << 56) | 77;
  const LineAddress b = (std::uint64_t{2} << 56) | 77;
  tags.fill(a, 0xf, false);
  EXPECT_EQ(tags.lookup(b, 0xf), 0);
}

TEST(Tags, AnInvalidatedLineIsGone) {
  Tags tags({.sets = 2, .ways = 2});
  tags.fill(5, 0xf, true);
  tags.invalidate(5);
  EXPECT_EQ(tags.lookup(5, 0xf), 0);
}

TEST(Tags, ForgettingAClientKeepsLinesOfOthersUntilTheirsAreForgotten) {
  Tags tags({.sets = 8, .ways = 4});
  const LineAddress a = (std::uint64_t{1} << kClientShift) | 77;
  const LineAddress b = (std::uint64_t{2} << kClientShift) | 77;
  tags.forget(1);  // nothing is there yet
  tags.fill(a, 0xf, false);
  tags.fill(b, 0xf, false);
  tags.forget(1);
  EXPECT_EQ(tags.peek(a, 0xf), 0);
  EXPECT_EQ(tags.peek(b, 0xf), 0xf);
  tags.forget(2);
  EXPECT_EQ(tags.peek(b, 0xf), 0);
  tags.fill(a, 0xf, false);
  tags.forget(1);
  EXPECT_EQ(tags.peek(a, 0xf), 0);
}

TEST(Tags, ALargeCacheTakesMemoryOnlyForLinesThatAreUsed) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  Tags tags({.sets = 1 << 20, .ways = 16});
  tags.forget(9);
  EXPECT_EQ(tags.peek(5, 0xf), 0);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 1000) << "of 98,304 pages";
}

TEST(Tags, HoldsExactlyItsCapacityOfAStreamThatFits) {
  Tags tags({.sets = 1, .ways = 16});
  for (LineAddress l = 0; l < 16; ++l) tags.fill(l, 1, false);
  for (LineAddress l = 0; l < 16; ++l) EXPECT_EQ(tags.lookup(l, 1), 1) << l;
  for (LineAddress l = 0; l < 17; ++l)
    if (tags.lookup(l, 1) == 0) tags.fill(l, 1, false);
  EXPECT_EQ(tags.peek(0, 1), 0) << "one line too many evicts the oldest";
}

TEST(Tags, AWriteRecallsWhatTheOtherHalfHasReadOnce) {
  Tags tags({.sets = 1, .ways = 1});
  tags.fill(5, 0x3, false);
  tags.read_by(1, 5, 0x1);
  EXPECT_FALSE(tags.recall(1, 5, 0x1)) << "its own copy";
  EXPECT_FALSE(tags.recall(0, 5, 0x2)) << "another sector";
  EXPECT_TRUE(tags.recall(0, 5, 0x3));
  EXPECT_FALSE(tags.recall(0, 5, 0x1));
  EXPECT_FALSE(tags.recall(0, 6, 0x1)) << "another line";
}

TEST(Tags, BeyondItsDirtyWaysTheOldestDirtyLineBecomesCleanAndStays) {
  Tags tags({.sets = 1, .ways = 4, .dirty_ways = 2});
  tags.fill(1, 0x3, true);
  EXPECT_EQ(tags.clean(1).dirty, 0U);
  tags.fill(2, 0xf, true);
  EXPECT_EQ(tags.clean(2).dirty, 0U);  // two may be
  tags.lookup(1, 0x1);
  tags.fill(3, 0x1, true);
  const Tags::Evicted cleaned = tags.clean(3);
  EXPECT_EQ(cleaned.line, 2U);
  EXPECT_EQ(cleaned.dirty, 0xfU);
  EXPECT_EQ(tags.peek(2, 0xf), 0xfU);
  EXPECT_EQ(tags.clean(3).dirty, 0U);
  tags.fill(4, 0x1, false);
  EXPECT_EQ(tags.fill(5, 0x1, false).dirty, 0U) << "line 2 is the oldest and clean";
}

TEST(Sectors, AreCounted) {
  for (std::uint32_t bits = 0; bits < 256; ++bits)
    EXPECT_EQ(sector_count(static_cast<Sectors>(bits)), static_cast<std::uint32_t>(__builtin_popcount(bits))) << bits;
}

}  // namespace
}  // namespace wm::sim
