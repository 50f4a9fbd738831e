#include "sim/block/duration.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace wm::sim {
namespace {

// How many of `blocks` blocks have each duration.
std::map<std::uint64_t, std::uint32_t> counts(const DurationShape& shape, Cycles mean, std::uint32_t blocks) {
  std::map<std::uint64_t, std::uint32_t> found;
  for (std::uint32_t b = 0; b < blocks; ++b) ++found[shape.duration(mean, 77, b)];
  return found;
}

TEST(DurationShape, RareLongBlocksStayAsRareAndAsLong) {
  std::vector<double> samples(4'000, 1);
  for (std::size_t i = 0; i < samples.size(); i += 1'000) samples[i] = 2'000;
  const double mean = (3'996 + 4 * 2'000) / 4'000.0;
  const auto found = counts(DurationShape::from_samples(samples), Cycles{3'000'000}, 400'000);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found.begin()->first), 3e6 / mean, 1e4);
  EXPECT_NEAR(static_cast<double>(found.rbegin()->first), 2'000 * 3e6 / mean, 2e7);
  EXPECT_NEAR(found.rbegin()->second, 400, 80);
}

TEST(DurationShape, OfFewSamplesIsATableOfAFormulasSize) {
  const auto found = counts(DurationShape::from_samples(std::vector<double>{1, 3}), Cycles{100}, 10'000);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.begin()->first, 50U);
  EXPECT_EQ(found.rbegin()->first, 150U);
  EXPECT_NEAR(found.begin()->second, 5'000, 250);
}

TEST(DurationShape, SamplesNearTheLargestNumberHaveAMean) {
  const auto found = counts(DurationShape::from_samples(std::vector<double>{1e308, 1e308}), Cycles{100}, 1'000);
  EXPECT_EQ(found, (std::map<std::uint64_t, std::uint32_t>{{100, 1'000}}));
}

TEST(DurationShape, AFormulaKeepsItsMean) {
  for (const DurationShape& shape : {DurationShape::uniform(0.5), DurationShape::lognormal(0.8)}) {
    double sum = 0;
    for (const auto& [cycles, times] : counts(shape, Cycles{1'000'000}, 100'000))
      sum += static_cast<double>(cycles) * times;
    EXPECT_NEAR(sum / 1e5, 1e6, 1e4);
  }
}

}  // namespace
}  // namespace wm::sim
