// Launches of lower priority leave room, and those of higher priority start at once.
#include "runtime/schedule/rules/priority_headroom.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "runtime/schedule/admission.h"
#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

struct PriorityHeadroomTest : testing::Test {
  LaunchQuery of(int priority) { return {*launch->launch, std::nullopt, 0, true, priority}; }
  LaunchSharing shared(int priority) {
    LaunchSharing sharing;
    rule.share(of(priority), sharing);
    return sharing;
  }

  CommandPtr launch = make_launch(std::make_shared<FakeClient>(), make_queue(), "k");
  ManualClock clock;
  PriorityHeadroom rule{0.25, true, 300'000, clock};
};

TEST_F(PriorityHeadroomTest, AClientByItselfIsNotLimited) {
  rule.note_launch(of(0));
  EXPECT_EQ(shared(0).unit_share, 1);
  EXPECT_FALSE(shared(0).yields);
  EXPECT_FALSE(shared(0).holds_gates);
  EXPECT_FALSE(rule.runs_unmodified(of(0)));
}

TEST_F(PriorityHeadroomTest, LowerPrioritiesAreLimitedForASecondAfterALaunchOfAHigherOne) {
  rule.note_launch(of(5));
  clock.time += 999'999'999;
  EXPECT_EQ(shared(0).unit_share, 0.75);
  EXPECT_TRUE(shared(0).yields);
  EXPECT_TRUE(rule.runs_unmodified(of(0)));
  clock.time += 1;
  EXPECT_EQ(shared(0).unit_share, 1);
  EXPECT_FALSE(shared(0).yields);
}

TEST_F(PriorityHeadroomTest, AHigherPriorityHoldsGatesAndStartsAtOnceBesideALowerOne) {
  EXPECT_FALSE(shared(5).holds_gates);
  rule.note_launch(of(0));
  EXPECT_TRUE(shared(5).holds_gates);
  EXPECT_EQ(shared(5).priority, 5);
  EXPECT_TRUE(rule.starts_at_once(of(5)));
  EXPECT_FALSE(rule.starts_at_once(of(0))) << "equal priorities wait for the policy";
}

TEST_F(PriorityHeadroomTest, AShortLaunchOfAnIsolatedClientIsNotDivided) {
  LaunchQuery query{*launch->launch, 299'999.0, 0, true, 0};
  EXPECT_TRUE(rule.runs_unmodified(query));
  query.expected = 300'000.0;
  EXPECT_FALSE(rule.runs_unmodified(query));
  query.expected = 1000.0;
  query.isolated = false;
  EXPECT_FALSE(rule.runs_unmodified(query));
}

TEST_F(PriorityHeadroomTest, WithoutALimitEveryLaunchOfAnIsolatedClientIsDivided) {
  const PriorityHeadroom divides{0.25, true, 0, clock};
  EXPECT_FALSE(divides.runs_unmodified({*launch->launch, 1.0, 0, true, 0}));
  EXPECT_EQ(divides.description().find("isolated"), std::string::npos);
  EXPECT_NE(rule.description().find("below 300 µs of an isolated client"), std::string::npos);
}

TEST(AdmissionRules, DevicesThatShareLaunchesHaveHeadroom) {
  const ManualClock clock;
  Capabilities device = polled_device();
  device.shares_launches = true;
  const auto rules = make_admission_rules({}, device, clock);
  EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [](const auto& r) { return r->name() == "priority_headroom"; }));
  const auto on_sms = make_admission_rules({.real_sms = true}, device, clock);
  EXPECT_TRUE(
      std::none_of(on_sms.begin(), on_sms.end(), [](const auto& r) { return r->name() == "priority_headroom"; }));
  const auto passing = make_admission_rules({.pass_through = true}, device, clock);
  ASSERT_EQ(passing.size(), 1U);
  EXPECT_EQ(passing.front()->name(), "pass_through");
}

}  // namespace
}  // namespace wm::runtime::test
