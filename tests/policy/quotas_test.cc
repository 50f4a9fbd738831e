#include "policy/algorithm/quotas.h"

#include <gtest/gtest.h>

namespace wm::policy {
namespace {

TEST(Goals, FromATimeLessTransfers) {
  // 12.16 million instructions in 10 ms less 2 ms of copies at 1216 MHz: 9.728 million cycles.
  const Hertz clock{1'216'000'000};
  const Picoseconds ms{1'000'000'000};
  EXPECT_DOUBLE_EQ(goal_from_time(12.16e6, clock, 10 * ms, 2 * ms), 1.25);
  EXPECT_DOUBLE_EQ(goal_from_time(12.16e6, clock, 2 * ms, 2 * ms), 0);
}

TEST(Goals, FromARate) {
  const Hertz clock{1'000'000'000};
  EXPECT_DOUBLE_EQ(goal_from_rate(1e6, clock, 100, {0}), 0.1);
}

TEST(Quotas, AlphaOfSection342) {
  EXPECT_DOUBLE_EQ(history_factor(125, 100), 1.25);  // the paper's example
  EXPECT_DOUBLE_EQ(history_factor(125, 150), 1);
  EXPECT_DOUBLE_EQ(history_factor(125, 0), 1);
}

TEST(Quotas, Equation1AndLocalParts) {
  EXPECT_DOUBLE_EQ(epoch_quota(1, 125, {10'000}), 1.25e6);
  EXPECT_DOUBLE_EQ(epoch_quota(1.25, 125, {10'000}), 1.5625e6);
  EXPECT_EQ(local_quota(1.25e6, 3, 48), 78'125);
  EXPECT_EQ(local_quota(1.25e6, 3, 0), 0);
}

TEST(Quotas, IdleBlocksAreWholeBlocksOfIdleWarps) {
  EXPECT_EQ(idle_blocks(7.9, 4), 1U);
  EXPECT_EQ(idle_blocks(8, 4), 2U);
  EXPECT_EQ(idle_blocks(3, 4), 0U);
}

}  // namespace
}  // namespace wm::policy
