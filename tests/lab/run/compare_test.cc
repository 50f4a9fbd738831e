// Several policies on one co-run: which ones take part, and in which order they come.
#include "lab/run/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/scratch.h"

namespace wm::lab {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> names(const PolicyList& list) {
  std::vector<std::string> all;
  for (const policy::Choice& c : list.fit) all.emplace_back(c.entry->info.name);
  return all;
}

std::vector<std::string> left_out(const PolicyList& list) {
  std::vector<std::string> all;
  for (const Unfit& u : list.unfit) all.push_back(u.policy);
  return all;
}

TEST(Compare, PoliciesForGoalsAreLeftOutWhereThereIsNone) {
  std::vector<Participant> pair{zoo_participant("lbm"), zoo_participant("mri-q")};
  const auto without = *policies_for({"all"}, pair);
  EXPECT_THAT(left_out(without), Contains("quota"));
  EXPECT_THAT(left_out(without), Contains("ppq"));
  EXPECT_THAT(names(without), Contains("even"));
  pair[0].goal = 0.8;
  pair[1].priority = 1;
  const auto with = *policies_for({"all"}, pair);
  EXPECT_THAT(names(with), Contains("quota"));
  EXPECT_THAT(names(with), Contains("ppq"));
  EXPECT_THAT(left_out(with), IsEmpty());
}

TEST(Compare, AGoalOfAnyKindIsEnoughForPoliciesForGoals) {
  std::vector<Participant> pair{zoo_participant("lbm"), zoo_participant("mri-q")};
  pair[0].goal_rate = 1000;
  const auto list = *policies_for({"quota", "goal_shares", "ppq"}, pair);
  EXPECT_THAT(names(list), ElementsAre("quota", "goal_shares"));
  EXPECT_THAT(left_out(list), ElementsAre("ppq"));
}

TEST(Compare, APolicyIsRunOnceAndWithItsParameters) {
  const std::vector<Participant> pair{zoo_participant("lbm"), zoo_participant("mri-q")};
  const auto list = *policies_for({"even", "dss", "dss:preemption=switch", "even"}, pair);
  EXPECT_THAT(names(list), ElementsAre("even", "dss", "dss"));
}

TEST(Compare, AnUnknownNameIsAnError) {
  const auto list = policies_for({"evn"}, {zoo_participant("lbm")});
  ASSERT_FALSE(list.ok());
  EXPECT_THAT(list.error().to_string(), HasSubstr("did you mean 'even'"));
}

TEST(Compare, IsolatedRatesAreMeasuredOnceAndTheBestComesFirst) {
  std::vector<Participant> pair{zoo_participant("lbm"), zoo_participant("mri-q")};
  CorunOptions options;
  options.cycles = 4000;
  std::map<std::string, int> runs;
  options.progress = [&](const std::string& what, double) { runs[what] = 1; };
  const auto list = policies_for({"fcfs", "even", "spatial"}, pair);
  const auto all = compare(test_gpu(), pair, *list, options, 1000);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->runs.size(), 3U);
  for (const ComparedRun& r : all->runs) {
    EXPECT_EQ(r.result.isolated_runs, 0U);
    EXPECT_EQ(r.result.kernels[0].isolated_ipc, all->runs[0].result.kernels[0].isolated_ipc);
    EXPECT_GT(r.result.kernels[0].isolated_ipc, 0);
    EXPECT_GE(r.timeline->intervals().size(), 3U);
  }
  const auto place = [](const ComparedRun& r) {
    return std::pair(metrics_of(r.result).starved, metrics_of(r.result).worst_ntt);
  };
  for (std::size_t i = 1; i < 3; ++i) EXPECT_LE(place(all->runs[i - 1]), place(all->runs[i]));
  EXPECT_EQ(runs.size(), 5U) << "two isolated runs, three policies";
}

TEST(Compare, AReachedGoalComesBeforeThroughput) {
  std::vector<Participant> pair{zoo_participant("cutcp"), zoo_participant("lbm")};
  pair[0].goal = 0.9;  // only the first in line can reach it
  CorunOptions options;
  options.cycles = 4000;
  const auto all = compare(test_gpu(), pair, *policies_for({"even", "spatial", "fcfs"}, pair), options, 0);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->runs[0].result.policy, "fcfs");
  EXPECT_EQ(metrics_of(all->runs[0].result).reached, 1U);
  EXPECT_LT(metrics_of(all->runs[0].result).stp, metrics_of(all->runs[1].result).stp);
}

TEST(Compare, APolicyThatStarvesAKernelIsNotFirstWhateverItsThroughput) {
  const std::vector<Participant> pair{zoo_participant("cutcp"), zoo_participant("lbm")};
  CorunOptions options;
  options.cycles = 4000;
  const auto all = compare(test_gpu(), pair, *policies_for({"fcfs", "spatial"}, pair), options, 0);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->runs[0].result.policy, "spatial");
  EXPECT_EQ(all->runs[1].result.kernels[1].normalized(), 0);
  EXPECT_EQ(metrics_of(all->runs[1].result).starved, 1);
  EXPECT_LT(metrics_of(all->runs[0].result).starved, 0.5);
}

}  // namespace
}  // namespace wm::lab
