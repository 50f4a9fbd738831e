// Gates are closed while others have work, within bounds.
#include "runtime/client/forward/gate_schedule.h"

#include <gtest/gtest.h>

namespace wm::forward {
namespace {

constexpr std::uint64_t kMicrosecond = 1000;

TEST(GateSchedule, GatesAreClosedWhileOthersHaveWork) {
  GateSchedule schedule;
  EXPECT_FALSE(schedule.closes(1, false, 0.1));
  EXPECT_TRUE(schedule.closes(10 * kMicrosecond, true, 0.1));
  EXPECT_TRUE(schedule.closes(60 * kMicrosecond, true, 0.1));
  EXPECT_FALSE(schedule.closes(61 * kMicrosecond, false, 0.1));
}

TEST(GateSchedule, WorkThatNeverEndsHoldsForAMillisecondOnly) {
  GateSchedule schedule;
  EXPECT_TRUE(schedule.closes(1, true, 1));
  EXPECT_TRUE(schedule.closes(GateSchedule::kLongest, true, 1));
  EXPECT_FALSE(schedule.closes(GateSchedule::kLongest + 1, true, 1));
  EXPECT_FALSE(schedule.closes(100 * GateSchedule::kLongest, true, 1));
  EXPECT_FALSE(schedule.closes(101 * GateSchedule::kLongest, false, 1));
  EXPECT_TRUE(schedule.closes(102 * GateSchedule::kLongest, true, 1));
}

// The part of a second for which gates are closed beside requests of a length, one every half millisecond.
double closed_part(std::uint64_t request_nanoseconds, double part) {
  GateSchedule schedule;
  constexpr std::uint64_t kSecond = 1'000'000'000, kStep = 1000, kPeriod = 500'000;
  std::uint64_t closed = 0;
  for (std::uint64_t now = 1; now < 2 * kSecond; now += kStep) {
    const bool is_closed = schedule.closes(now, now % kPeriod < request_nanoseconds, part);
    if (is_closed && now >= kSecond) closed += kStep;
  }
  return static_cast<double>(closed) / kSecond;
}

TEST(GateSchedule, GatesAreClosedForAPartOfTheTimeAtMost) {
  EXPECT_NEAR(closed_part(50'000, 0.5), 0.1, 0.002);
  EXPECT_NEAR(closed_part(50'000, 0.08), 0.08, 0.003);
  EXPECT_NEAR(closed_part(400'000, 0.08), 0.08, 0.003);
  EXPECT_EQ(closed_part(50'000, 0), 0);
}

}  // namespace
}  // namespace wm::forward
