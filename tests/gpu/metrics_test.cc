#include "gpu/metrics.h"

#include <cmath>
#include <gmock/gmock.h>

namespace wm::gpu {
namespace {

using testing::ElementsAre;

// One kernel at half its speed, one at a quarter.
const std::vector<Progress> kTwo = {Progress::of_times(10, 20), Progress::of_times(10, 40)};

TEST(Metrics, TurnaroundThroughputAndFairness) {
  EXPECT_DOUBLE_EQ(antt(kTwo), 3);  // (2 + 4) / 2
  EXPECT_DOUBLE_EQ(worst_ntt(kTwo), 4);
  EXPECT_DOUBLE_EQ(stp(kTwo), 0.75);      // 1/2 + 1/4
  EXPECT_DOUBLE_EQ(fairness(kTwo), 0.5);  // 1/4 over 1/2
  EXPECT_DOUBLE_EQ(unfairness(kTwo), 2);  // 4 over 2
  EXPECT_DOUBLE_EQ(least(kTwo), 0.25);
}

TEST(Metrics, RatesAndTimesAgree) {
  const std::vector<Progress> rates = {Progress::of_rates(100, 50), Progress::of_rates(80, 20)};
  EXPECT_DOUBLE_EQ(antt(rates), antt(kTwo));
  EXPECT_DOUBLE_EQ(stp(rates), stp(kTwo));
}

TEST(Metrics, AnIsolatedKernelHasPerfectMetrics) {
  const std::vector<Progress> isolated = {Progress::of_times(7, 7)};
  EXPECT_DOUBLE_EQ(antt(isolated), 1);
  EXPECT_DOUBLE_EQ(stp(isolated), 1);
  EXPECT_DOUBLE_EQ(fairness(isolated), 1);
  EXPECT_DOUBLE_EQ(unfairness(isolated), 1);
}

TEST(Metrics, AStarvedKernelIsInfinitelySlow) {
  const std::vector<Progress> starved = {Progress::of_rates(10, 10), Progress::of_rates(10, 0)};
  EXPECT_TRUE(std::isinf(antt(starved)));
  EXPECT_DOUBLE_EQ(fairness(starved), 0);
  EXPECT_TRUE(std::isinf(unfairness(starved)));
  EXPECT_DOUBLE_EQ(stp(starved), 1);
}

TEST(Metrics, ProcessorSharingSlowsShortProgramsMost) {
  const double equal[] = {5, 5, 5}, two[] = {3, 1}, many[] = {1, 1, 1e9};
  EXPECT_DOUBLE_EQ(processor_sharing_unfairness(equal), 1);
  // The short one ends at 2, twice its time; the long one at 4, after 3 of its own.
  EXPECT_DOUBLE_EQ(processor_sharing_unfairness(two), 2.0 / (4.0 / 3));
  EXPECT_NEAR(processor_sharing_unfairness(many), 3, 1e-6) << "the long one hardly notices the others";
  EXPECT_DOUBLE_EQ(processor_sharing_unfairness({}), 1);
}

TEST(Metrics, OverlapIsTimeTogetherOverTimeAtAll) {
  EXPECT_DOUBLE_EQ(overlap(std::vector<Interval>{{0, 100}, {50, 150}}), 50.0 / 150);
  EXPECT_DOUBLE_EQ(overlap(std::vector<Interval>{{0, 100}, {100, 200}}), 0);
  EXPECT_DOUBLE_EQ(overlap(std::vector<Interval>{{0, 10}, {20, 30}}), 0);
  EXPECT_DOUBLE_EQ(overlap(std::vector<Interval>{{0, 90}, {30, 60}, {40, 80}}), 20.0 / 90);
  EXPECT_DOUBLE_EQ(overlap(std::vector<Interval>{{5, 25}}), 1);
  EXPECT_DOUBLE_EQ(overlap({}), 0);
}

TEST(Metrics, GoalsReachedAndHowMuchAbove) {
  const std::vector<Goal> cases = {{100, 100}, {104, 100}, {99, 100}, {80, 100}};
  EXPECT_DOUBLE_EQ(*qos_reach(cases), 0.5);
  EXPECT_NEAR(*overshoot(cases), 0.02, 1e-12);
  EXPECT_FALSE(qos_reach({}).has_value());
  EXPECT_FALSE(overshoot(std::vector<Goal>{{1, 2}}).has_value());
}

TEST(Metrics, ViolationsByHowMuchWasMissed) {
  const std::vector<Goal> cases = {{100, 100}, {99.5, 100}, {99, 100}, {96, 100}, {91, 100}, {50, 100}};
  const std::vector<double> edges = {0.01, 0.05, 0.1};
  EXPECT_THAT(violations(cases, edges), ElementsAre(2, 1, 1, 1));
}

TEST(Metrics, NormalizedPerformanceAndThroughput) {
  EXPECT_DOUBLE_EQ(npm(9.5, 10, 0.95), 1);
  EXPECT_LT(npm(9, 10, 0.95), 1);
  EXPECT_DOUBLE_EQ(ntp(3, 12), 0.25);
}

TEST(Metrics, Energy) {
  const Energy e{.joules = 20, .seconds = 0.5, .instructions = 4e9};
  EXPECT_DOUBLE_EQ(e.watts(), 40);
  EXPECT_DOUBLE_EQ(e.instructions_per_joule(), 2e8);
  EXPECT_DOUBLE_EQ(e.energy_delay(), 10);
}

TEST(Metrics, GeometricMean) {
  EXPECT_NEAR(geometric_mean(std::vector<double>{2, 8}), 4, 1e-12);
  EXPECT_NEAR(geometric_mean(std::vector<double>{0.5, 2}), 1, 1e-12);
}

}  // namespace
}  // namespace wm::gpu
