// Policies that give SMs to CUDA programs: launches run in green contexts, in the order that the program asked for.
#include "fixture.h"

namespace wm::runtime {
namespace {

class PlacementTest : public ArbitratedProgramsTest {
 protected:
  // 16 groups of 8 SMs and one of 4, as the simulated driver divides an H200.
  void use(const std::string& policy, bool has_green_contexts = true) {
    ArbiterOptions options = mps(50);
    options.policy = policy;
    options.sm_groups.sms.assign(16, 8);
    options.sm_groups.sms.push_back(4);
    options.sm_groups.has_green_contexts = has_green_contexts;
    options.decisions_file = (folder_ / "decisions").string();
    start_daemon(options);
  }
  // Another program that is active for the length of the test.
  std::unique_ptr<Program> start_other() {
    auto other = start({"compute", "60"}, "7");
    (void)client(7, [](const Json& c) { return c["state"] == "active"; });
    return other;
  }
  // Where the last launch of a program ran, after the daemon had seen that it `is_ready`.
  template <typename Ready>
  Json where(const std::string& kind, Ready is_ready) {
    const auto program = start({"where", kind, "told"});
    (void)client(0, is_ready);
    return program->finish();
  }
  [[nodiscard]] static bool is_placed(const Json& c) { return c["counters"]["placed_launches"].get<int>() > 0; }
  [[nodiscard]] static bool is_limited(const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; }
  [[nodiscard]] std::string decisions() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "decisions").rdbuf();
    return text.str();
  }
};

TEST_F(PlacementTest, SpatialGivesEachProgramHalfOfTheSms) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"where", "stream", "told"});
  EXPECT_EQ(client(0, is_placed)["mechanism"], "60 of 132 SMs (green context)");
  const Json seen = program->finish();
  EXPECT_EQ(seen["sms"], 60);
  EXPECT_EQ(seen["first"], 0);  // the groups of a program are spread over the device
  EXPECT_EQ(seen["last"], 131);
  EXPECT_EQ(client(7, is_placed)["priority"], 7);
  end_daemon();
  EXPECT_NE(decisions().find("to k1, drain"), std::string::npos) << decisions();
}

TEST_F(PlacementTest, AProgramByItselfUsesAllSmsUnplaced) {
  use("spatial");
  const auto has_launched = [](const Json& c) { return c["launches"].get<int>() > 20; };
  EXPECT_EQ(where("stream", has_launched)["sms"], 132);
  (void)clients(0);
}

TEST_F(PlacementTest, LaunchesInDefaultStreamsArePlaced) {
  use("spatial");
  const auto other = start_other();
  EXPECT_EQ(where("null", is_placed)["sms"], 60);
  EXPECT_EQ(where("thread", is_placed)["sms"], 60);
}

TEST_F(PlacementTest, APlacedKernelHasItsOwnDivisionOfAnSmsMemoryAgain) {
  use("spatial");
  const auto other = start_other();
  const Json seen = where("green", [](const Json& c) { return is_placed(c) && is_limited(c); });
  EXPECT_EQ(seen["sms"], 60);
  EXPECT_EQ(seen["unplaced_carveout"], 100);  // a launch that cannot be placed is limited by its shared memory
  EXPECT_EQ(seen["carveout"], -1);
}

TEST_F(PlacementTest, CapturedLaunchesAreNotPlaced) {
  use("spatial");
  const auto other = start_other();
  EXPECT_EQ(where("captured", is_placed)["sms"], 132);
}

TEST_F(PlacementTest, TheOrderOfWorkIsThatOfTheProgram) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"ordered", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["placed_launches"].get<int>() > 100; });
  const Json result = program->finish();
  EXPECT_EQ(result["right"], result["rounds"]);
  EXPECT_EQ(result["told"], result["rounds"]);
}

TEST_F(PlacementTest, ContextsOfTheProgramsOwnAreLimitedInstead) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"where", "context", "told"});
  EXPECT_EQ(client(0, is_limited)["mechanism"],
            "60 of 132 SMs (green context) (not applied: no launch can be placed; at most 45% of the blocks per SM)");
  EXPECT_EQ(program->finish()["sms"], 132);
}

TEST_F(PlacementTest, ADriverWithoutGreenContextsLimitsBlocks) {
  use("spatial", false);
  const auto other = start_other();
  const auto program = start({"wide", "told"});
  EXPECT_EQ(client(0, is_limited)["mechanism"], "at most 45% of the blocks per SM");
  EXPECT_GT(program->finish()["shared_bytes"], 16);
}

TEST_F(PlacementTest, ManyThreadsArePlaced) {
  use("spatial");
  const auto other = start_other();
  EXPECT_EQ(start({"threads", "8"})->result()["launches"], 800);
}

TEST_F(PlacementTest, TheSmsReturnWhenTheOtherProgramEnds) {
  use("spatial");
  auto other = start_other();
  const auto program = start({"where", "stream", "told"});
  (void)client(0, is_placed);
  other->kill();
  EXPECT_EQ(client(0, [](const Json& c) { return c["mechanism"] == "none"; })["mechanism"], "none");
  EXPECT_EQ(program->finish()["sms"], 132);
}

TEST_F(PlacementTest, ProgramsGoOnUnplacedWhenTheDaemonEnds) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"where", "stream", "told"});
  (void)client(0, is_placed);
  end_daemon();
  EXPECT_TRUE(program->says("the daemon is gone"));
  EXPECT_EQ(program->finish()["sms"], 132);
}

TEST_F(PlacementTest, AGoalGetsItsPartOfTheSms) {
  use("static_smqos");
  const auto other = start_other();
  const auto program = start({"compute", "60"}, "3", "", "3 0.8");
  // 0.8 of 17 groups are 13; its groups follow those of the other program, which came first.
  const auto has_part = [](const Json& c) {
    return c["mechanism"].get<std::string>().find("100 of") != std::string::npos;
  };
  EXPECT_EQ(client(3, has_part)["mechanism"], "highest stream priority, 100 of 132 SMs (green context)");
}

}  // namespace
}  // namespace wm::runtime
