// The progress of a program between its launches.
#include "runtime/arbiter/launch_progress.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

TEST(LaunchProgress, WithoutTimesWholeLaunchesCount) {
  LaunchProgress progress;
  EXPECT_EQ(progress.advance(7, 0, 100), 0);  // launches before the first call
  EXPECT_EQ(progress.advance(9, 0, 200), 2);
  EXPECT_EQ(progress.advance(9, 0, 300), 0);
}

TEST(LaunchProgress, ALaunchCountsByThePartOfItsTime) {
  LaunchProgress progress;
  (void)progress.advance(1, 1000, 1000);
  (void)progress.advance(2, 2000, 2000);  // 1000 ns each
  EXPECT_NEAR(progress.advance(2, 2000, 2250), 0.25, 1e-9);
  EXPECT_NEAR(progress.advance(2, 2000, 2750), 0.5, 1e-9);
  EXPECT_NEAR(progress.advance(3, 3000, 3000), 0.25, 1e-9);
}

TEST(LaunchProgress, ARegularProgramAdvancesEvenlyInIntervalsOfAnyLength) {
  LaunchProgress progress;
  constexpr std::uint64_t kLaunch = 2'000'000, kStep = 3'100'000;
  double lowest = 10, highest = 0;
  for (std::uint64_t now = kStep; now < 100 * kStep; now += kStep) {
    const std::uint64_t launches = now / kLaunch + 1;
    const double advanced = progress.advance(launches, (launches - 1) * kLaunch + 1, now);
    if (now < 5 * kStep) continue;
    lowest = std::min(lowest, advanced);
    highest = std::max(highest, advanced);
  }
  EXPECT_NEAR(lowest, 1.55, 0.01);  // launches in a step; their count is 1 or 2
  EXPECT_NEAR(highest, 1.55, 0.01);
}

TEST(LaunchProgress, AProgramThatStopsAdvancesByOneLaunchAtMost) {
  LaunchProgress progress;
  (void)progress.advance(1, 1000, 1000);
  (void)progress.advance(2, 2000, 2000);
  EXPECT_NEAR(progress.advance(2, 2000, 90000), 1, 1e-9);
  EXPECT_EQ(progress.advance(2, 2000, 900000), 0);
  // Its next launch was not in progress meanwhile.
  EXPECT_NEAR(progress.advance(3, 900000, 900000), 0, 1e-9);
}

TEST(LaunchProgress, ProgressIsNeverTakenBack) {
  LaunchProgress progress;
  (void)progress.advance(1, 1000, 1000);
  (void)progress.advance(2, 2000, 2000);
  EXPECT_NEAR(progress.advance(2, 2000, 2900), 0.9, 1e-9);
  // The next launches take ten times as long: the estimate of the first one's part was too high.
  EXPECT_GE(progress.advance(3, 12000, 12100), 0);
  double sum = 0;
  for (std::uint64_t now = 12200; now <= 22000; now += 100) sum += progress.advance(3, 12000, now);
  EXPECT_NEAR(sum, 1, 0.02);
}

}  // namespace
}  // namespace wm::runtime
