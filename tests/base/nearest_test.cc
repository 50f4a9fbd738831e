#include "base/nearest.h"

#include <gtest/gtest.h>

namespace wm {
namespace {

TEST(EditDistance, CountsSlips) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("treads", "threads"), 1U);
}

TEST(EditDistance, ASwapOfNeighboursIsOneSlip) {
  EXPECT_EQ(edit_distance("sgmem", "sgemm"), 1U);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2U);
}

TEST(Nearest, FindsTheOneMeant) {
  EXPECT_EQ(nearest("treads", {"registers", "threads", "blocks"}), "threads");
  EXPECT_EQ(nearest("kernls", {"demo", "kernels", "ptx"}), "kernels");
  EXPECT_EQ(nearest("epok", {"scheme", "epoch"}), "epoch");
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("matmul", {"sgemm", "bfs"}), "");
  EXPECT_EQ(nearest("ptx", {"sim"}), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

TEST(Nearest, TheFirstOfEqualsWins) { EXPECT_EQ(nearest("sad", {"sid", "sod"}), "sid"); }

TEST(DidYouMean, EndsAMessage) {
  EXPECT_EQ(did_you_mean("sgem", {"sgemm"}), " (did you mean 'sgemm'?)");
  EXPECT_EQ(did_you_mean("xyzzy", {"sgemm"}), "");
}

}  // namespace
}  // namespace wm
