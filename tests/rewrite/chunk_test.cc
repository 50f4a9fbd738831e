// Chunks of groups: as many as fit into 10 us, where their time is known, and at least two for each worker.
#include "rewrite/chunk.h"

#include <gtest/gtest.h>

namespace wm::rewrite {
namespace {

TEST(Chunk, WithoutATimeTheMinimumHolds) {
  EXPECT_EQ(choose_chunk({.groups = 10'000, .room = 100, .min = 8, .max = 8}), 8U);
  EXPECT_EQ(choose_chunk({.groups = 10'000, .room = 100, .min = 1, .max = 8}), 1U);
}

TEST(Chunk, EachWorkerFindsTwo) {
  EXPECT_EQ(choose_chunk({.groups = 800, .room = 100, .min = 8, .max = 8}), 4U);
  EXPECT_EQ(choose_chunk({.groups = 399, .room = 100, .min = 8, .max = 8}), 1U);
  EXPECT_EQ(choose_chunk({.groups = 3, .room = 100, .min = 8, .max = 8}), 1U);
}

TEST(Chunk, SeveralGroupsTakeTenMicrosecondsAtMost) {
  // 100 rounds of groups of 2 us, of 4 us, of 11 us.
  EXPECT_EQ(choose_chunk({.groups = 10'000, .room = 100, .max = 8, .launch_nanoseconds = 200'000}), 5U);
  EXPECT_EQ(choose_chunk({.groups = 10'000, .room = 100, .max = 8, .launch_nanoseconds = 400'000}), 2U);
  EXPECT_EQ(choose_chunk({.groups = 10'000, .room = 100, .max = 8, .launch_nanoseconds = 1'100'000}), 1U);
  EXPECT_EQ(choose_chunk({.groups = 10'000, .room = 100, .max = 8, .launch_nanoseconds = 1'000}), 8U);
}

TEST(Chunk, ShortGroupsKeepTheirMinimum) {
  EXPECT_EQ(choose_chunk({.groups = 10'000, .room = 100, .min = 4, .max = 8, .launch_nanoseconds = 1e9}), 4U);
}

}  // namespace
}  // namespace wm::rewrite
