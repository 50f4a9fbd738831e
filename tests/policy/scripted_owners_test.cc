// Policies that give SMs to kernels, by the events that a test sends.
#include <algorithm>
#include <gtest/gtest.h>

#include "policy/script.h"

namespace wm::policy::test {
namespace {

// A kernel with a goal of 20 and one or two without, on eight SMs. An epoch of 1000 cycles ends.
class SpartScript : public testing::Test {
 protected:
  // The owners after an epoch in which the kernel with a goal reached `ipc`, with this rate over its life.
  std::string after(double ipc, double history) {
    const std::uint32_t owned = script_.gpu.owned({0});
    for (const Sm& sm : script_.gpu.sms())
      script_.gpu.on(sm.index, {0}).counters.thread_instructions =
          sm.owner == KernelId{0} ? static_cast<std::uint64_t>(ipc * 1000 / owned) : 0;
    script_.gpu.kernel({0}).instructions = static_cast<std::uint64_t>(history * 1000);
    script_.send(Epoch{{1000}});
    return script_.gpu.owners();
  }
  void start(int others) {
    script_.gpu.add(20);
    for (int i = 0; i < others; ++i) script_.gpu.add(0);
    script_.send(KernelSetChanged{});
  }
  static std::int64_t count(const std::string& owners, char kernel) {
    return std::count(owners.begin(), owners.end(), kernel);
  }
  Script script_{"spart:epoch=1000", 8};
};

TEST_F(SpartScript, AnEvenSplitComesFirst) {
  start(1);
  EXPECT_EQ(script_.gpu.owners(), "aaaabbbb");
  script_.gpu.kernel({0}).function = 1;
  after(40, 40);
  script_.send(KernelSetChanged{});
  EXPECT_NE(script_.gpu.owners(), "aaaabbbb") << "another function of the client is no reason to divide again";
}

TEST_F(SpartScript, TheFirstStepFollowsThePredictionLaterOnesAreOneSm) {
  start(1);
  EXPECT_EQ(count(after(40, 40), 'a'), 2) << "half of its SMs meet the goal";
  EXPECT_EQ(count(after(5, 40), 'a'), 3) << "it needs eight but gets one more";
  EXPECT_EQ(count(after(5, 40), 'a'), 4);
  EXPECT_EQ(count(after(80, 40), 'a'), 3) << "it needs one but loses one";
}

TEST_F(SpartScript, ThePredictionIsTheLeastNumberThatMeetsTheGoal) {
  start(1);
  EXPECT_EQ(count(after(14, 20), 'a'), 6) << "20 x 4 / 14 is 5.7";
}

TEST_F(SpartScript, AKernelBehindItsGoalOverItsLifeGetsOneMore) {
  start(1);
  EXPECT_EQ(count(after(20, 20), 'a'), 4);
  EXPECT_EQ(count(after(20, 19.9), 'a'), 5);
}

TEST_F(SpartScript, AKernelThatDidNothingGetsOneMore) {
  start(1);
  EXPECT_EQ(count(after(0, 30), 'a'), 5);
}

TEST_F(SpartScript, ASlowKernelIsPredictedToo) {
  start(1);
  script_.gpu.kernel({0}).goal = 0.5;
  EXPECT_EQ(count(after(1, 1), 'a'), 2);
}

TEST_F(SpartScript, TheLastSmStays) {
  start(1);
  EXPECT_EQ(count(after(400, 40), 'a'), 1);
  EXPECT_EQ(count(after(400, 40), 'a'), 1);
}

TEST_F(SpartScript, AnSmIsReturnedToTheKernelWithFewest) {
  start(2);
  EXPECT_EQ(script_.gpu.owners(), "aaabbbcc");
  EXPECT_EQ(count(after(30, 40), 'c'), 3);
  EXPECT_EQ(count(after(100, 40), 'b'), 4) << "among equals to the first";
}

class StaticSmQosScript : public testing::Test {
 protected:
  static std::string divided(const std::string& policy, std::uint32_t sms,
                             std::initializer_list<std::pair<double, double>> goals_and_rates) {
    Script script(policy, sms);
    for (const auto& [goal, isolated] : goals_and_rates) script.gpu.add(goal).isolated_ipc = isolated;
    script.send(KernelSetChanged{});
    return script.gpu.owners();
  }
};

TEST_F(StaticSmQosScript, AGoalGetsItsPartAndTheOthersTheRest) {
  EXPECT_EQ(divided("static_smqos", 9, {{3, 9}, {0, 0}, {0, 0}}), "aaabbbccc");
  EXPECT_EQ(divided("static_smqos", 10, {{0.3, 1}, {0, 10}}), "aaabbbbbbb");
  EXPECT_EQ(divided("static_smqos", 4, {{3, 0}, {0, 0}}), "aabb") << "without an isolated rate the demand is not known";
}

TEST_F(StaticSmQosScript, PartsOfAnSmAreRounded) {
  EXPECT_EQ(divided("static_smqos:rounding=down", 10, {{0.39, 1}, {0, 0}}), "aaabbbbbbb");
  EXPECT_EQ(divided("static_smqos:rounding=up", 10, {{0.31, 1}, {0, 0}}), "aaaabbbbbb");
  EXPECT_EQ(divided("static_smqos:rounding=up", 10, {{0.3, 1}, {0, 0}}), "aaabbbbbbb");
  EXPECT_EQ(divided("static_smqos:rounding=nearest", 10, {{0.36, 1}, {0, 0}}), "aaaabbbbbb");
}

TEST_F(StaticSmQosScript, EveryKernelKeepsAnSm) {
  EXPECT_EQ(divided("static_smqos", 4, {{1, 1}, {1, 1}, {0, 0}}), "aabc");
  EXPECT_EQ(divided("static_smqos", 4, {{0.01, 1}, {0, 0}}), "abbb");
}

TEST_F(StaticSmQosScript, SmsThatNoGoalAsksForGoToTheLastKernel) {
  EXPECT_EQ(divided("static_smqos", 10, {{0.3, 1}, {0.3, 1}}), "aaabbbbbbb");
}

TEST_F(StaticSmQosScript, AnotherFunctionChangesNothing) {
  Script script("static_smqos", 4);
  script.gpu.add(0);
  script.gpu.add(0);
  script.send(KernelSetChanged{});
  script.gpu.sm(0).owner = {1};
  script.gpu.kernel({0}).function = 3;
  script.send(KernelSetChanged{});
  EXPECT_EQ(script.gpu.owners(), "babb");
}

}  // namespace
}  // namespace wm::policy::test
