// Policies that own SMs on programs: the groups of SMs that each program gets.
#include "runtime/arbiter/sm_rule.h"

#include <bit>
#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

class SmRuleTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kStep = 10'000'000;  // nanoseconds between two decisions

  // 8 groups of 8 SMs.
  void use(const std::string& policy, bool has_green_contexts = true) {
    SmGroups groups{std::vector<std::uint32_t>(8, 8), 8, has_green_contexts};
    auto made = SmRule::make(policy, groups, "");
    ASSERT_TRUE(made) << made.error().what;
    rule_ = *std::move(made);
  }
  static PolicyProgram program(std::uint64_t number, double goal = 0, int priority = 0) {
    PolicyProgram p;
    p.number = number;
    p.state = {.priority = priority, .goal = {}, .is_active = true};
    if (goal > 0) p.state.goal = {ProgramGoal::Kind::part_of_isolated_rate, 0, goal};
    p.isolated_rate = 1000;
    return p;
  }
  // Decides `steps` times. The programs use what they were given, and launch at `rates` (launches per second and SM).
  const std::vector<ProgramDecision>& run(std::vector<PolicyProgram>& programs, int steps,
                                          const std::vector<double>& rates = {}) {
    for (int i = 0; i < steps; ++i) {
      now_ += Cycles{kStep};
      last_ = rule_->decide(programs, now_);
      for (std::size_t k = 0; k < programs.size(); ++k) {
        programs[k].used_groups = last_[k].sm_groups;
        if (k >= rates.size()) continue;
        pending_.resize(programs.size());
        const std::uint32_t sms = last_[k].sms == 0 ? 64 : last_[k].sms;
        pending_[k] += rates[k] * sms * kStep * 1e-9;
        const auto launches = static_cast<std::uint64_t>(pending_[k]);
        programs[k].launches += launches;
        pending_[k] -= static_cast<double>(launches);
      }
    }
    return last_;
  }
  [[nodiscard]] std::vector<std::uint32_t> sms() const {
    std::vector<std::uint32_t> found;
    for (const ProgramDecision& d : last_) found.push_back((d.modes & kPlace) != 0 ? d.sms : 64);
    return found;
  }
  // No SM has two owners.
  void expect_disjoint() const {
    std::uint64_t taken = 0;
    for (const ProgramDecision& d : last_) {
      if ((d.modes & kPlace) == 0) continue;
      EXPECT_EQ(taken & d.sm_groups, 0U);
      taken |= d.sm_groups;
    }
  }

  std::unique_ptr<ProgramRule> rule_;
  Cycles now_;
  std::vector<ProgramDecision> last_;
  std::vector<double> pending_;
};

using Sms = std::vector<std::uint32_t>;

TEST_F(SmRuleTest, SpatialDividesTheSmsEqually) {
  use("spatial");
  std::vector<PolicyProgram> programs{program(1), program(2)};
  run(programs, 3);
  EXPECT_EQ(sms(), Sms({32, 32}));
  EXPECT_EQ(last_[0].modes & kDivideAlike, 0U);
  expect_disjoint();
  programs.push_back(program(3));
  programs.push_back(program(4));
  run(programs, 3);
  EXPECT_EQ(sms(), Sms({16, 16, 16, 16}));
  expect_disjoint();
  programs.resize(1);
  run(programs, 2);
  EXPECT_EQ(last_[0].modes & kPlace, 0U);
}

TEST_F(SmRuleTest, ASmIsReservedUntilItsProgramHasLaunchedElsewhere) {
  use("spatial");
  std::vector<PolicyProgram> programs{program(1)};
  run(programs, 2);
  programs[0].used_groups = 0xff;
  programs.push_back(program(2));
  now_ += Cycles{kStep};
  last_ = rule_->decide(programs, now_);
  EXPECT_EQ(sms(), Sms({32, 64}));  // the second has no SMs yet, and waits
  EXPECT_NE(last_[1].modes & kPause, 0U);
  programs[0].used_groups = 0x0f;
  now_ += Cycles{kStep};
  last_ = rule_->decide(programs, now_);
  EXPECT_EQ(sms(), Sms({32, 32}));
}

TEST_F(SmRuleTest, WorkersOwnPairsOfSmsAndLeaveThemOneByOne) {
  const SmGroups groups = SmGroups{{8, 8, 7}, 8, true}.for_workers(WorkerUse::beside_others);
  EXPECT_EQ(groups.sms.size(), 12U);
  EXPECT_EQ(groups.all(), 23U) << "the last one has no neighbour";
  auto made = SmRule::make("spatial", groups, "");
  ASSERT_TRUE(made);
  std::vector<PolicyProgram> programs{program(1), program(2)};
  const auto decide = [&] {
    now_ += Cycles{kStep};
    last_ = (*made)->decide(programs, now_);
    Sms sms;
    for (const ProgramDecision& d : last_) sms.push_back(d.sms);
    return sms;
  };
  EXPECT_EQ(decide(), Sms({12, 11}));
  EXPECT_EQ(last_[0].modes & (kWorkers | kPlace | kLimitBlocks), std::uint32_t{kWorkers});
  EXPECT_EQ(last_[0].mechanism(), "12 of 23 SMs (workers)");
  EXPECT_EQ(last_[0].occupancy_percent, 52U) << "for kernels that are no workers";
  programs.push_back(program(3));
  EXPECT_EQ(decide(), Sms({8, 4, 0})) << "it is not known whether they have left any";
  programs[0].leaving_sms = 4;
  programs[1].leaving_sms = 7;
  EXPECT_EQ(decide(), Sms({8, 4, 0})) << "they have left none";
  programs[1].leaving_sms = 6;
  EXPECT_EQ(decide(), Sms({8, 4, 2})) << "the second has left a pair, of which the third has got both";
  programs[0].leaving_sms = 1;
  EXPECT_EQ(decide(), Sms({8, 6, 2})) << "a worker of the first is left on one SM of a pair";
  programs[0].leaving_sms = 0;
  programs[1].leaving_sms = 0;
  EXPECT_EQ(decide(), Sms({8, 8, 7}));
}

TEST_F(SmRuleTest, AProgramThatDoesNotLaunchKeepsNoSmReservedForLong) {
  use("spatial");
  std::vector<PolicyProgram> programs{program(1)};
  run(programs, 2);
  programs.push_back(program(2));
  for (int i = 0; i < 11; ++i) {
    programs[0].used_groups = 0xff;
    now_ += Cycles{kStep};
    last_ = rule_->decide(programs, now_);
  }
  EXPECT_EQ(sms(), Sms({32, 32}));
}

TEST_F(SmRuleTest, StaticSmqosGivesAGoalItsPart) {
  use("static_smqos");
  std::vector<PolicyProgram> programs{program(1, 0.75), program(2)};
  run(programs, 3);
  EXPECT_EQ(sms(), Sms({48, 16}));
}

TEST_F(SmRuleTest, AGoalThatBecomesKnownLaterCounts) {
  use("static_smqos");
  std::vector<PolicyProgram> programs{program(1, 0.75), program(2)};
  programs[0].isolated_rate = 0;
  run(programs, 3);
  EXPECT_EQ(sms(), Sms({32, 32}));
  programs[0].isolated_rate = 1000;
  run(programs, 3);
  EXPECT_EQ(sms()[0], 48U);
  EXPECT_EQ(sms()[1], 16U);
}

TEST_F(SmRuleTest, SmqosTakesSmsWhileAGoalIsMissedAndReturnsThemWhenItIsMet) {
  use("smqos");
  // 64 SMs give 1,000 launches a second.
  std::vector<PolicyProgram> programs{program(1, 0.8), program(2)};
  run(programs, 400, {1000.0 / 64, 1000.0 / 64});
  expect_disjoint();
  EXPECT_GE(sms()[0], 48U);
  EXPECT_LE(sms()[0], 56U);
  // Its launches become twice as fast: half of the SMs are enough.
  run(programs, 1500, {2000.0 / 64, 1000.0 / 64});
  EXPECT_LE(sms()[0], 32U);
  EXPECT_GE(sms()[1], 32U);
}

TEST_F(SmRuleTest, APauseIsNoPartOfTheHistory) {
  use("smqos:epoch=1000");
  std::vector<PolicyProgram> programs{program(1, 0.5), program(2)};
  run(programs, 100, {1000.0 / 64, 1000.0 / 64});
  const std::uint32_t before = sms()[0];
  EXPECT_LE(before, 40U);
  programs[0].state.is_active = false;
  run(programs, 1000, {0, 1000.0 / 64});
  programs[0].state.is_active = true;
  // Without work for ten seconds its mean since the beginning is a tenth; it would hold all SMs until that is made up
  // for.
  run(programs, 100, {1000.0 / 64, 1000.0 / 64});
  EXPECT_LE(sms()[0], before + 8);
  EXPECT_GE(sms()[0], 24U);
}

TEST_F(SmRuleTest, SpartFollowsItsLinearModel) {
  use("spart");
  std::vector<PolicyProgram> programs{program(1, 0.75), program(2)};
  run(programs, 100, {1000.0 / 64, 1000.0 / 64});
  EXPECT_GE(sms()[0], 48U);
  EXPECT_LE(sms()[0], 56U);
}

TEST_F(SmRuleTest, DssGivesAProgramNoMoreSmsThanItCanUse) {
  use("dss");
  std::vector<PolicyProgram> programs{program(1), program(2)};
  run(programs, 3);
  EXPECT_EQ(sms(), Sms({32, 32}));
  programs.push_back(program(3));
  programs[2].parts = PolicyRule::kParts / 8;  // its launches fill one group
  run(programs, 5);
  EXPECT_EQ(sms()[2], 8U);
  expect_disjoint();
}

TEST_F(SmRuleTest, PpqGivesTheMostImportantProgramTheSmsThatItCanUse) {
  use("ppq:access=shared");
  std::vector<PolicyProgram> programs{program(1), program(2, 0, 5)};
  programs[1].parts = PolicyRule::kParts / 4;
  run(programs, 5);
  EXPECT_EQ(sms(), Sms({48, 16}));
  use("ppq");  // exclusive: the others wait
  run(programs, 20);
  EXPECT_NE(last_[0].modes & kPause, 0U);
}

TEST_F(SmRuleTest, WithoutGreenContextsTheSamePartOfEverySm) {
  use("spatial", false);
  std::vector<PolicyProgram> programs{program(1), program(2)};
  run(programs, 3);
  EXPECT_EQ(last_[0].occupancy_percent, 50U);
  EXPECT_NE(last_[0].modes & kLimitBlocks, 0U);
  EXPECT_EQ(last_[0].modes & kPlace, 0U);
}

TEST_F(SmRuleTest, PoliciesThatNeedMoreAreRefused) {
  SmGroups groups{std::vector<std::uint32_t>(8, 8), 8, true};
  EXPECT_FALSE(SmRule::make("quota", groups, ""));
  EXPECT_FALSE(SmRule::make("dss:preemption=switch", groups, ""));
  EXPECT_FALSE(SmRule::make("spatial", {}, ""));
}

}  // namespace
}  // namespace wm::runtime
