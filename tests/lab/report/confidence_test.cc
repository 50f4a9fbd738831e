// Confidence intervals over seeds: the formula against printed tables, and what counts as a sample.
#include "lab/report/confidence.h"

#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

#include "lab/experiment/figures.h"

namespace wm::lab {
namespace {

TEST(Confidence, AnIntervalFollowsStudentsT) {
  const Estimate five = estimate({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(five.mean, 3);
  EXPECT_NEAR(five.half_width, 2.7764 * 1.5811388 / std::sqrt(5.0), 1e-4);
  const Estimate two = estimate({1, 3});
  EXPECT_NEAR(two.half_width, 12.7062, 1e-4);
  EXPECT_EQ(estimate({4}).half_width, 0);
  EXPECT_EQ(estimate({4, 4, 4}).half_width, 0);
}

// 22 samples are the first beyond the table: t is 2.0796 at 21 degrees, 1.9799 at 120.
TEST(Confidence, QuantilesBeyondTheTableAreExactToFourDigits) {
  for (const auto& [degrees, t] : {std::pair{21, 2.0796}, {40, 2.0211}, {120, 1.9799}}) {
    std::vector<double> samples(static_cast<std::size_t>(degrees + 1), 0);
    samples[0] = 1;
    const double n = degrees + 1;
    const double deviation = std::sqrt((1 - 1 / n) / degrees);
    EXPECT_NEAR(estimate(samples).half_width / (deviation / std::sqrt(n)), t, 2e-4) << degrees;
  }
}

TEST(Confidence, EverySeedIsOneSampleAndGainsCompareRunsOfTheSameSeed) {
  Table table;
  for (const auto& [seed, before, after] : {std::tuple{"1", 10, 11}, {"2", 20, 26}, {"3", 40, 48}}) {
    table.add({{"policy", "A"}, {"seed", seed}}, before, 1, 1);
    table.add({{"policy", "B"}, {"seed", seed}}, after, 1, 1);
  }
  const auto gain = *Expression::parse("gain(ipc, policy=B, against=A)", {}, {"policy", "seed"});
  const auto found = estimate(gain, RecordIndex(table.records()));
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->mean, 1.2, 1e-12);
  EXPECT_EQ(found->samples, 3);
  EXPECT_NEAR(found->half_width, 4.3027 * 0.1 / std::sqrt(3.0), 1e-4);
}

TEST(Confidence, RecordsWithoutSeedsHaveNoInterval) {
  Table table;
  table.add({{"policy", "A"}, {"seed", ""}}, 10, 1, 1);
  table.add({{"policy", "A"}, {"seed", ""}}, 20, 1, 1);
  const auto mean = *Expression::parse("mean(ipc)", {}, {"policy", "seed"});
  const auto found = estimate(mean, RecordIndex(table.records()));
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->mean, 15);
  EXPECT_EQ(found->samples, 1);
  EXPECT_EQ(found->half_width, 0);
  EXPECT_FALSE(estimate(mean, RecordIndex(Records{})).has_value());
}

}  // namespace
}  // namespace wm::lab
