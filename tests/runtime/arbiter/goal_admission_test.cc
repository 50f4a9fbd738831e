// Which goals are admitted, and when a program is measured by itself.
#include "runtime/arbiter/goal_admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/arbiter/isolated_sampling.h"

namespace wm::runtime {
namespace {

using ::testing::HasSubstr;
using Kind = ProgramGoal::Kind;
using Verdict = GoalAdmission::Verdict;

NamedGoal p99(double microseconds) { return {"service", {Kind::p99_nanoseconds, 0, microseconds * 1000}}; }
NamedGoal rate(double launches) { return {"service", {Kind::launches_per_second, 0, launches}}; }
NamedGoal part(double value) { return {"service", {Kind::part_of_isolated_rate, 0, value}}; }

TEST(GoalAdmission, GoalsOfUnknownProgramsAreAccepted) {
  const GoalAdmission admission;
  for (const NamedGoal& goal : {p99(1), rate(1e9), part(1)}) {
    EXPECT_EQ(admission.check(goal, {}, false).verdict, Verdict::accepted);
  }
}

TEST(GoalAdmission, AGoalBeyondWhatTheProgramReachesByItselfIsNeverMet) {
  GoalAdmission admission;
  admission.learn("service", {.p99 = 41'700, .rate = 150});
  EXPECT_EQ(admission.check(p99(50), {}, false).verdict, Verdict::accepted);
  const auto slow = admission.check(p99(20), {}, false);
  EXPECT_EQ(slow.verdict, Verdict::never);
  EXPECT_THAT(slow.reason, HasSubstr("p99=20us cannot be met: 'service' reaches p99=41.7us by itself"));
  EXPECT_EQ(admission.check(rate(140), {}, false).verdict, Verdict::accepted);
  EXPECT_THAT(admission.check(rate(160), {}, false).reason, HasSubstr("rate=150/s by itself"));
}

TEST(GoalAdmission, GoalsTogetherNeedNoMoreThanTheGpu) {
  GoalAdmission admission;
  admission.learn("service", {.p99 = 0, .rate = 200});
  EXPECT_EQ(admission.check(part(0.4), {part(0.6)}, false).verdict, Verdict::accepted);
  const auto answer = admission.check(part(0.5), {part(0.6)}, false);
  EXPECT_EQ(answer.verdict, Verdict::not_now);
  EXPECT_THAT(answer.reason, HasSubstr("need 0.60 of the GPU: 0.40 could be met"));
  EXPECT_THAT(admission.check(rate(150), {part(0.5)}, false).reason, HasSubstr("rate=100/s could be met"));
  EXPECT_EQ(admission.check({"service", {}}, {part(1)}, true).verdict, Verdict::accepted);
}

TEST(GoalAdmission, BesideMissedGoalsThereIsNoRoomForAnother) {
  const GoalAdmission admission;
  EXPECT_EQ(admission.check(p99(100), {p99(50)}, true).verdict, Verdict::not_now);
  EXPECT_EQ(admission.check(p99(100), {p99(50)}, false).verdict, Verdict::accepted);
  EXPECT_EQ(admission.check(p99(100), {{"batch", {}}}, true).verdict, Verdict::accepted);
}

TEST(IsolatedSampling, MeasuresAProgramThatNeedsItBesideOthers) {
  IsolatedSampling sampling;
  bool needs = true;
  double began = 0, ended = 0, first = 0;
  for (int i = 0; i < 500; ++i) {
    const double now = i * 0.01;
    const auto step = sampling.observe(now, {{1, false}, {2, needs}});
    EXPECT_TRUE(step.number == 0 || step.number == 2);
    if (step.number != 0 && first == 0) first = now;
    if (step.begins) began = now;
    if (step.ends) ended = now;
    if (step.ends) needs = false;
  }
  EXPECT_NEAR(first, 1, 0.02);
  EXPECT_NEAR(began - first, 0.1, 0.02);
  EXPECT_NEAR(ended - began, 0.4, 0.02);
}

TEST(IsolatedSampling, EndsWithTheProgram) {
  IsolatedSampling sampling;
  double now = 0;
  while (sampling.observe(now, {{1, false}, {2, true}}).number == 0 && now < 5) now += 0.01;
  EXPECT_EQ(sampling.observe(now, {{1, false}}).number, 0U);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(sampling.observe(now += 0.01, {{1, true}}).number, 0U) << "it is by itself";
}

}  // namespace
}  // namespace wm::runtime
