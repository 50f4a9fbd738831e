// Which mechanism each program gets, and how a goal changes it.
#include "runtime/arbiter/decision.h"

#include <gtest/gtest.h>

#include "runtime/arbiter/goal_control.h"

namespace wm::runtime {
namespace {

ProgramState program(int priority, bool is_active = true) {
  return {.priority = priority, .goal = {}, .is_active = is_active};
}

ProgramState with_p99(double microseconds) {
  return {.priority = 0, .goal = {ProgramGoal::Kind::p99_nanoseconds, 0, microseconds * 1000}, .is_active = true};
}

const std::vector<Restriction> kHalf(2, Restriction{50, 200});

ArbiterOptions with_slice(std::uint32_t microseconds) {
  ArbiterOptions options;
  options.slice_microseconds = microseconds;
  return options;
}

TEST(Decision, AProgramByItselfIsNotTouched) {
  ArbiterOptions options;
  for (const Sharing sharing : {Sharing::mps, Sharing::isolated}) {
    options.sharing = sharing;
    const auto d = decide({program(5)}, options, kHalf);
    EXPECT_EQ(d[0].modes, 0U);
    EXPECT_EQ(d[0].slice_microseconds, 0U);
  }
}

TEST(Decision, EqualProgramsAreNotTouched) {
  const auto d = decide({program(3), program(3)}, {}, kHalf);
  EXPECT_EQ(d[0].modes | d[1].modes, 0U);
}

TEST(Decision, ThroughMpsOthersLeaveAPartOfEverySm) {
  ArbiterOptions options;
  options.sharing = Sharing::mps;
  const auto d = decide({program(0), program(5)}, options, kHalf);
  EXPECT_EQ(d[0].modes, kLimitBlocks);
  EXPECT_EQ(d[0].occupancy_percent, 50U);
  EXPECT_EQ(d[0].slice_microseconds, 0U);
  EXPECT_EQ(d[0].stream_priority, StreamPriority::below_highest);
  EXPECT_EQ(d[1].modes, kMeasure | kTellOthers | kDivideAlike);
  EXPECT_EQ(d[1].stream_priority, StreamPriority::highest);
  EXPECT_TRUE(d[1].is_latency_sensitive);
}

TEST(Decision, MemoryIsDividedAlikeOnlyBesideALimit) {
  ArbiterOptions options;
  options.sharing = Sharing::mps;
  Restriction none{100, 0};
  none.has_no_gain = true;
  const auto d = decide({program(0), program(5)}, options, {none, none});
  EXPECT_EQ(d[0].modes, 0U);
  EXPECT_EQ(d[0].mechanism(), "no limit: requests do not become shorter by one");
  EXPECT_EQ(d[1].modes, kMeasure | kTellOthers);
}

TEST(Decision, IsolatedOthersGetShorterTimeSlices) {
  const auto d = decide({program(0), program(5)}, {}, kHalf);
  EXPECT_EQ(d[0].modes, 0U);
  EXPECT_EQ(d[0].slice_microseconds, 200U);
  EXPECT_EQ(d[1].slice_microseconds, 0U);
}

TEST(Decision, AnIdleProgramRestrictsNoOtherProgram) {
  const auto d = decide({program(0), program(5, false)}, {}, kHalf);
  EXPECT_EQ(d[0].slice_microseconds, 0U);
}

TEST(Decision, AGoalMakesAProgramLatencySensitive) {
  const auto d = decide({program(0), with_p99(300)}, {}, kHalf);
  EXPECT_EQ(d[0].slice_microseconds, 200U);
  EXPECT_EQ(d[1].stream_priority, StreamPriority::highest);
}

TEST(Decision, LaunchesWaitOnlyWhenAsked) {
  ArbiterOptions options;
  options.wait_microseconds = 100;
  const auto d = decide({program(0), program(5)}, options, kHalf);
  EXPECT_EQ(d[0].modes, kWaitForOthers);
  EXPECT_EQ(d[0].wait_microseconds, 100U);
}

TEST(GoalControl, MissedGoalsTightenAndMetOnesLoosen) {
  ArbiterOptions options;
  options.sharing = Sharing::mps;
  GoalControl control(options);
  EXPECT_EQ(control.restriction().occupancy_percent, 50U);
  control.measured(200, 100);
  EXPECT_EQ(control.restriction().occupancy_percent, 38U);
  control.measured(200, 100);  // launches from before the change are in it
  EXPECT_EQ(control.restriction().occupancy_percent, 38U);
  for (int i = 0; i < 7; ++i) control.measured(200, 100);
  EXPECT_EQ(control.restriction().occupancy_percent, 12U);
  EXPECT_TRUE(control.is_exhausted());
  for (int i = 0; i < 8; ++i) control.measured(90, 100);  // met, without room to spare
  EXPECT_EQ(control.restriction().occupancy_percent, 12U);
  EXPECT_FALSE(control.is_exhausted());
  for (int i = 0; i < 4; ++i) control.measured(50, 100);
  EXPECT_EQ(control.restriction().occupancy_percent, 25U);
}

TEST(GoalControl, AWindowInWhichProgramsCameOrWentDoesNotCount) {
  GoalControl control(with_slice(200));
  control.restart();
  control.measured(9000, 100);
  EXPECT_EQ(control.restriction().slice_microseconds, 200U);
  control.measured(9000, 100);
  EXPECT_EQ(control.restriction().slice_microseconds, 150U);
}

TEST(GoalControl, StartsWhereTheOptionsSay) {
  GoalControl control(with_slice(1000));
  control.measured(700, 600);
  EXPECT_EQ(control.restriction().slice_microseconds, 500U);
}

TEST(TimeBuckets, AreNeverMoreThanAnEighthTooLong) {
  for (std::uint64_t t = 8; t < (std::uint64_t{1} << 40); t += 1 + t / 7) {
    const std::uint64_t bound = time_bucket_bound(time_bucket(t));
    ASSERT_GT(bound, t);
    ASSERT_LE(static_cast<double>(bound), static_cast<double>(t) * 1.126 + 1);
  }
  EXPECT_EQ(time_bucket(~std::uint64_t{0}), kTimeBuckets - 1);
}

}  // namespace
}  // namespace wm::runtime
