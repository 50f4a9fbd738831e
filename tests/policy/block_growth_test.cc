#include "policy/algorithm/block_growth.h"

#include <gtest/gtest.h>

namespace wm::policy {
namespace {

// Epochs of a kernel that takes a block whenever it may, with these rates; returns where it took one, as "+", where it
// had to return one, as "-", and where neither, as ".".
std::string epochs(BlockGrowth& growth, const std::vector<double>& rates) {
  std::string seen;
  for (const double rate : rates) {
    growth.end_epoch(rate);
    if (growth.must_return()) {
      growth.give_back();
      seen += '-';
    } else if (growth.may_grow()) {
      growth.grow();
      seen += '+';
    } else {
      seen += '.';
    }
    growth.finish();
  }
  return seen;
}

TEST(BlockGrowth, GoesOnWhileBlocksRaiseTheRate) {
  BlockGrowth growth;
  EXPECT_EQ(epochs(growth, {10, 11, 12, 12, 13, 14, 14, 15}), "++++++++");
}

TEST(BlockGrowth, TwoStepsWithoutEffectReturnAndThenItRests) {
  BlockGrowth growth;
  EXPECT_EQ(epochs(growth, {10, 10, 9, 10, 10, 10, 10, 9, 9}), "++--..++-");
}

TEST(BlockGrowth, EveryRestIsTwiceAsLong) {
  BlockGrowth growth;
  const std::string seen = epochs(growth, std::vector<double>(200, 10));
  EXPECT_GT(seen.rfind("++--") - seen.find("++--"), 30U);
  EXPECT_LE(std::count(seen.begin(), seen.end(), '+'), 14);
}

// The effect of a block shows after an epoch. A kernel that takes and returns blocks again and again keeps none longer
// for that: what it holds for many epochs, its neighbour lacks.
TEST(BlockGrowth, BlocksMayReturnTwoEpochsAfterTheyWereTaken) {
  BlockGrowth growth;
  double rate = 0;
  const auto epochs_until_return = [&] {
    growth.end_epoch(rate += 1);
    growth.grow();
    growth.finish();
    for (std::uint32_t n = 1;; ++n) {
      growth.end_epoch(rate += 1);
      if (growth.may_return()) {
        growth.give_back();
        growth.finish();
        return n;
      }
      growth.finish();
    }
  };
  for (int time = 0; time < 8; ++time) EXPECT_EQ(epochs_until_return(), 2U);
}

TEST(BlockGrowth, OneGoodEpochIsNoMargin) {
  BlockGrowth growth;
  growth.had_margin(true);
  EXPECT_FALSE(growth.has_steady_margin());
  growth.had_margin(false);
  growth.had_margin(true);
  EXPECT_FALSE(growth.has_steady_margin());
  growth.had_margin(true);
  EXPECT_TRUE(growth.has_steady_margin());
}

}  // namespace
}  // namespace wm::policy
