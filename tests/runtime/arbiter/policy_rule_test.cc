// Policies of `wm policies` on programs: the part of every SM that each gets.
#include "runtime/arbiter/policy_rule.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

class PolicyRuleTest : public ::testing::Test {
 protected:
  void use(const std::string& policy) {
    auto made = PolicyRule::make(policy);
    ASSERT_TRUE(made) << made.error().what;
    rule_ = *std::move(made);
  }
  static PolicyProgram program(std::uint64_t number, int priority = 0, std::uint32_t parts = 0) {
    return {.number = number,
            .state = {.priority = priority, .goal = {}, .is_active = true},
            .share = 1,
            .parts = parts,
            .p99 = 0,
            .window_ended = false,
            .isolated_p99 = 0,
            .isolated_rate = 0,
            .launches = 0,
            .used_groups = {},
            .leaving_sms = std::nullopt};
  }
  // The percentage of every SM that each program may have; 100: no limit.
  std::vector<std::uint32_t> parts(const std::vector<PolicyProgram>& programs) {
    std::vector<std::uint32_t> found;
    now_ += Cycles{500'000'000};
    for (const ProgramDecision& d : rule_->decide(programs, now_))
      found.push_back((d.modes & kLimitBlocks) != 0 ? d.occupancy_percent : 100);
    return found;
  }

  std::unique_ptr<ProgramRule> rule_;
  Cycles now_;
};

using Parts = std::vector<std::uint32_t>;

TEST_F(PolicyRuleTest, AccelosDividesEverySmEqually) {
  use("accelos");
  EXPECT_EQ(parts({program(1), program(2)}), Parts({50, 50}));
}

TEST_F(PolicyRuleTest, SharesAreWeights) {
  use("priority_shares");
  PolicyProgram heavy = program(3);
  heavy.share = 3;
  EXPECT_EQ(parts({program(1), heavy}), Parts({25, 75}));
}

TEST_F(PolicyRuleTest, AProgramByItselfHasNoLimit) {
  use("accelos");
  EXPECT_EQ(parts({program(1)}), Parts({100}));
  EXPECT_EQ(parts({program(1), program(2)}), Parts({50, 50}));
  PolicyProgram idle = program(2);
  idle.state.is_active = false;
  EXPECT_EQ(parts({program(1), idle}), Parts({100, 100}));
  EXPECT_EQ(parts({program(1)}), Parts({100}));
}

TEST_F(PolicyRuleTest, PrioritySharesLeaveToOthersWhatTheFirstCannotUse) {
  use("priority_shares");
  EXPECT_EQ(parts({program(1), program(2, 5, 4)}), Parts({87, 100}));  // 28 of 32 parts
}

TEST_F(PolicyRuleTest, GoalSharesGiveMoreWhileTheGoalIsMissed) {
  use("goal_shares:launches=16");  // windows
  PolicyProgram service = program(2);
  service.state.goal = {ProgramGoal::Kind::p99_nanoseconds, 0, 100'000};
  service.isolated_p99 = 40'000;
  service.p99 = 100'000;
  service.window_ended = true;
  const std::uint32_t start = parts({program(1), service})[0];
  EXPECT_LT(start, 100U);
  std::uint32_t missed = start;
  for (int i = 0; i < 5; ++i) {
    service.p99 = 200'000;
    missed = parts({program(1), service})[0];
  }
  EXPECT_LT(missed, start);
  for (int i = 0; i < 60; ++i) {
    service.p99 = 50'000;
    missed = parts({program(1), service})[0];
  }
  EXPECT_GT(missed, start - 5);
}

TEST_F(PolicyRuleTest, PoliciesThatOwnSmsAreRefused) {
  const auto made = PolicyRule::make("spatial");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().what.find("cannot"), std::string::npos) << made.error().what;
  EXPECT_FALSE(PolicyRule::make("no_such_policy"));
}

}  // namespace
}  // namespace wm::runtime
