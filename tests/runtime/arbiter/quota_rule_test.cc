// Policies with quotas on programs: how many launches of each may begin.
#include "runtime/arbiter/quota_rule.h"

#include <gtest/gtest.h>
#include <utility>

namespace wm::runtime {
namespace {

// Programs that wait for each launch, on a GPU that those with a launch on it share equally.
class QuotaRuleTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kStep = 1'000'000;  // nanoseconds
  static constexpr double kIsolated = 150;           // launches per second

  void use(const std::string& policy) {
    auto made = QuotaRule::make(policy, "");
    ASSERT_TRUE(made) << made.error().what;
    rule_ = *std::move(made);
  }
  void add(double goal = 0) {
    PolicyProgram p;
    p.number = programs_.size() + 1;
    p.state.is_active = true;
    if (goal > 0) p.state.goal = {ProgramGoal::Kind::part_of_isolated_rate, 0, goal};
    p.isolated_rate = kIsolated;
    programs_.push_back(p);
    running_.push_back(0);
    waits_.push_back(0);
  }
  // Launches per second of each program in these seconds, as a part of what it has by itself.
  std::vector<double> run(double seconds) {
    std::vector<std::uint64_t> before;
    for (const PolicyProgram& p : programs_) before.push_back(p.launches);
    const auto steps = static_cast<int>(seconds * 1e9 / kStep);
    for (int i = 0; i < steps; ++i) step();
    std::vector<double> parts;
    for (std::size_t i = 0; i < programs_.size(); ++i)
      parts.push_back(static_cast<double>(programs_[i].launches - before[i]) / seconds / kIsolated);
    return parts;
  }

  std::unique_ptr<ProgramRule> rule_;
  std::vector<PolicyProgram> programs_;
  std::vector<ProgramDecision> decisions_;
  bool needs_all_blocks_ = false;  // programs are as fast as their limit of blocks allows
  Cycles now_;
  std::vector<double> running_;       // the part of the launch that is left
  std::vector<std::uint64_t> waits_;  // nanoseconds of the launch that waits

 private:
  void step() {
    now_ += Cycles{kStep};
    decisions_ = rule_->decide(programs_, now_);
    const auto busy =
        static_cast<double>(std::count_if(running_.begin(), running_.end(), [](double r) { return r > 0; }));
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const double speed = needs_all_blocks_ && (decisions_[i].modes & kLimitBlocks) != 0
                               ? decisions_[i].occupancy_percent / 100.0
                               : 1 / busy;
      if (running_[i] > 0) running_[i] -= kIsolated * kStep * 1e-9 * std::min(speed, 1 / busy);
      const bool may_begin = (decisions_[i].modes & kQuota) == 0 || programs_[i].launches < decisions_[i].launch_limit;
      if (running_[i] <= 0 && !may_begin) waits_[i] += kStep;
      if (running_[i] > 0 || !may_begin) continue;
      programs_[i].waited += std::exchange(waits_[i], 0);
      running_[i] += 1;
      ++programs_[i].launches;
      programs_[i].launched_at = now_.count;
    }
  }
};

TEST_F(QuotaRuleTest, AGoalIsReachedAndTheRestIsTheOthers) {
  for (const double goal : {0.6, 0.8, 0.9}) {
    programs_.clear();
    running_.clear();
    waits_.clear();
    use("quota");
    add(goal);
    add();
    run(5);
    const auto parts = run(10);
    EXPECT_NEAR(parts[0], goal, 0.03) << goal;
    EXPECT_GT(parts[0] + parts[1], 0.93) << goal;
  }
}

TEST_F(QuotaRuleTest, AProgramWhoseNeighboursAreHeldHasAllBlocks) {
  needs_all_blocks_ = true;
  use("quota");
  add(0.9);
  add();
  run(0.5);
  EXPECT_GT(run(1)[0], 0.85);  // before blocks could have been adjusted
}

TEST_F(QuotaRuleTest, TwoOthersShareTheRest) {
  use("quota");
  add(0.7);
  add();
  add();
  run(5);
  const auto parts = run(10);
  EXPECT_NEAR(parts[0], 0.7, 0.03);
  EXPECT_GT(parts[1], 0.08);
  EXPECT_GT(parts[2], 0.08);
}

TEST_F(QuotaRuleTest, SmkSlowsProgramsAlike) {
  use("smk");
  add();
  add();
  run(3);
  const auto parts = run(5);
  EXPECT_NEAR(parts[0], parts[1], 0.05);
  EXPECT_GT(parts[0] + parts[1], 0.9);
}

TEST_F(QuotaRuleTest, AProgramByItselfHasNoQuotaAndNoLimit) {
  use("quota");
  add(0.5);
  EXPECT_NEAR(run(3)[0], 1, 0.02);
  EXPECT_EQ(decisions_[0].modes, kMeasure);
}

TEST_F(QuotaRuleTest, WithoutGoalsThereAreNoQuotas) {
  use("quota");
  add();
  add();
  run(1);
  EXPECT_EQ((decisions_[0].modes | decisions_[1].modes) & kQuota, 0U);
}

TEST_F(QuotaRuleTest, BlocksAreDividedWhileTheOtherProgramHasALaunch) {
  use("quota");
  add(0.8);
  add();
  std::size_t limited = 0, free = 0;
  for (int i = 0; i < 2000; ++i) {
    run(0.001);
    ASSERT_NE(decisions_[0].modes & kQuota, 0U);
    ++((decisions_[0].modes & kLimitBlocks) != 0 ? limited : free);
  }
  EXPECT_GT(limited, 100U);
  EXPECT_GT(free, 100U);
  EXPECT_NE(decisions_[1].mechanism().find("a quota of launches"), std::string::npos);
}

TEST_F(QuotaRuleTest, QuotasEndWithTheGoal) {
  use("quota");
  add(0.8);
  add();
  run(1);
  programs_[0].state.is_active = false;
  run(0.01);
  EXPECT_EQ(decisions_[1].modes & (kQuota | kLimitBlocks), 0U);
}

TEST(QuotaMachine, ALaunchBeyondTheQuotaIsTakenFromTheNextOne) {
  QuotaMachine machine;
  const auto kernel = machine.arrive({});
  machine.deliver([](const auto&) {});
  for (const policy::Sm& sm : machine.sms()) machine.set_quota(sm.id, kernel, 250'000);
  EXPECT_EQ(machine.launches_left(kernel), 2);
  machine.launched(kernel, 2.5);
  EXPECT_EQ(machine.launches_left(kernel), -0.5);
  for (const policy::Sm& sm : machine.sms()) machine.set_quota(sm.id, kernel, 250'000);
  EXPECT_EQ(machine.launches_left(kernel), 1.5);
}

TEST(QuotaMachine, ASpentQuotaIsToldOnEverySm) {
  QuotaMachine machine;
  const auto kernel = machine.arrive({});
  machine.deliver([](const auto&) {});
  for (const policy::Sm& sm : machine.sms()) machine.set_quota(sm.id, kernel, 100'000);
  machine.launched(kernel, 1);
  std::size_t spent = 0;
  machine.deliver([&](const auto& event) {
    if constexpr (std::is_same_v<std::decay_t<decltype(event)>, policy::QuotaSpent>) ++spent;
  });
  EXPECT_EQ(spent, machine.sms().size());
}

}  // namespace
}  // namespace wm::runtime
