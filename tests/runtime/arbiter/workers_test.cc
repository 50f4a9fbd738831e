// CUDA programs whose kernels run as workers: the same results, on the SMs that a policy gives to the program, also
// while these change, and reasons where a kernel stays as it is.
#include "fixture.h"

namespace wm::runtime {
namespace {

class WorkersTest : public ArbitratedProgramsTest {
 protected:
  void use(const std::string& policy, WorkerUse workers = WorkerUse::beside_others) {
    ArbiterOptions options = mps(50);
    options.policy = policy;
    options.sm_groups.sms = {132};
    options.sm_groups = options.sm_groups.for_workers(workers);
    start_daemon(options);
  }
  // Another program that is active for the length of the test.
  std::unique_ptr<Program> start_other(const std::string& priority = "7") {
    auto other = start({"compute", "60"}, priority);
    (void)client(std::stoi(priority), [](const Json& c) { return c["state"] == "active"; });
    return other;
  }
  [[nodiscard]] static bool is_placed(const Json& c) { return c["counters"]["placed_launches"].get<int>() > 20; }
  [[nodiscard]] static std::map<std::string, std::string> kernels(const Json& client) {
    std::map<std::string, std::string> found;
    for (const Json& k : client["kernels"])
      found[k["name"]] = k["workers"].get<bool>() ? "workers" : k["reason"].get<std::string>();
    return found;
  }
};

TEST_F(WorkersTest, KernelsRunOnTheSmsOfTheirProgram) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"where", "stream", "told"});
  EXPECT_EQ(client(0, is_placed)["mechanism"], "66 of 132 SMs (workers)");
  EXPECT_EQ(client(7, is_placed)["mechanism"], "highest stream priority, 66 of 132 SMs (workers)");
  const Json seen = program->finish();
  EXPECT_EQ(seen["first"], 0) << "each program sees its SMs with the first numbers";
  EXPECT_LT(seen["last"], 66);
}

TEST_F(WorkersTest, LaunchesInDefaultStreamsAndOwnContextsAreWorkersToo) {
  use("spatial");
  const auto other = start_other();
  for (const char* kind : {"null", "thread", "context"}) {
    const auto program = start({"where", kind, "told"});
    (void)client(0, is_placed);
    EXPECT_LT(program->finish()["last"], 66) << kind;
    (void)clients(1);
  }
}

TEST_F(WorkersTest, ResultsAreTheSameToTheBit) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"visits", "told"});
  const Json seen = client(0, is_placed);
  EXPECT_EQ(kernels(seen),
            (std::map<std::string, std::string>{{"visit", "workers"}, {"turned", "workers"}, {"plain", "workers"}}));
  const Json result = program->finish();
  EXPECT_EQ(result["right"], result["rounds"]);
}

TEST_F(WorkersTest, AChangeOfSmsReachesAKernelThatRuns) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"visits", "told"});
  (void)client(0, is_placed);
  int added = 0;
  // The program loses some of its SMs and gets others when a third one comes, until that happens while a kernel runs.
  for (int i = 0; i < 20 && added == 0; ++i) {
    const auto third = start_other("3");
    (void)client(0, [](const Json& c) { return c["mechanism"] == "44 of 132 SMs (workers)"; });
    const Json left = client(0, [](const Json& c) { return c["counters"]["used_sms"] == 44; });
    added = left["counters"]["added_worker_launches"];
  }
  EXPECT_GT(added, 0);
  const Json result = program->finish();
  EXPECT_EQ(result["right"], result["rounds"]);
  EXPECT_GT(result["max_sms"], 1) << "without time one worker runs all blocks, unless it has to leave or gets help";
}

// The program's SMs change at most when it begins to launch.
TEST_F(WorkersTest, NoWorkersAreAddedToALaunchThatWaitsInItsStream) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"behind", "told"});
  const Json counters = client(0, is_placed)["counters"];
  EXPECT_LT(counters["added_worker_launches"], 5) << "of " << counters["placed_launches"] << " launches";
  const Json result = program->finish();
  EXPECT_EQ(result["right"], result["rounds"]);
}

TEST_F(WorkersTest, TheOrderOfWorkIsThatOfTheProgram) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"ordered", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["placed_launches"].get<int>() > 100; });
  const Json result = program->finish();
  EXPECT_EQ(result["right"], result["rounds"]);
  EXPECT_EQ(result["told"], result["rounds"]);
}

TEST_F(WorkersTest, VariablesLibrariesThreadsAndContextsAreTheProgramsOwn) {
  use("spatial");
  const auto other = start_other();
  for (const char* kind : {"module", "library", "threads", "contexts"}) {
    const auto program = start({"gated", "told", kind});
    (void)client(0, is_placed);
    const Json result = program->finish();
    EXPECT_EQ(result["right"], result["launches"]) << kind;
    EXPECT_EQ(result.value("blocks", 0), result.value("expected_blocks", 0)) << kind;
    for (const char* error : {"refused", "empty_grid", "large_block", "tall_grid"})
      EXPECT_EQ(result.value(error, 1), 1) << error;
    (void)clients(1);
  }
}

TEST_F(WorkersTest, AKernelThatStaysAsItIsHasAReasonAndAPartOfEverySm) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"gated", "told", "module"});
  const Json seen = client(
      0, [](const Json& c) { return c["kernels"].size() == 4 && c["counters"]["limited_launches"].get<int>() > 0; });
  EXPECT_EQ(kernels(seen), (std::map<std::string, std::string>{{"sum", "workers"},
                                                               {"scaled", "workers"},
                                                               {"spins", "a loop of it may wait for another block"},
                                                               {"straight", "workers"}}));
  const Json result = program->finish();
  EXPECT_EQ(result["right"], result["launches"]);
}

TEST_F(WorkersTest, CapturedLaunchesStayTheProgramsOwn) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"gated", "told", "capture"});
  (void)client(0, is_placed);
  const Json result = program->finish();
  EXPECT_EQ(result["ended"], 0);
  EXPECT_EQ(result["own"], 1);
  EXPECT_EQ(result["right"], 1);
}

TEST_F(WorkersTest, AProgramByItselfRunsAsItIs) {
  use("spatial");
  const Json result = start({"visits", "3"})->result();
  EXPECT_EQ(result["right"], 3);
  EXPECT_EQ(result["max_sms"], 132);
}

TEST_F(WorkersTest, ProgramsGoOnOnAllSmsWhenTheOtherOrTheDaemonEnds) {
  use("spatial");
  auto other = start_other();
  const auto program = start({"visits", "told"});
  (void)client(0, is_placed);
  other->kill();
  EXPECT_EQ(client(0, [](const Json& c) { return c["mechanism"] == "none"; })["mechanism"], "none");
  other = start_other();
  (void)client(0, [](const Json& c) { return c["mechanism"] == "66 of 132 SMs (workers)"; });
  end_daemon();
  EXPECT_TRUE(program->says("the daemon is gone"));
  const Json result = program->finish();
  EXPECT_EQ(result["right"], result["rounds"]);
  EXPECT_EQ(result["max_sms"], 132) << "the last launches were not workers";
}

TEST_F(WorkersTest, AProgramKeepsItsSmsForAsLongAsItsKernelRuns) {
  use("spatial");
  const auto other = start_other();
  const auto program = start({"lasts", "told"});
  (void)client(0, is_placed);
  program->tell();
  // Without a launch a program is active for a second.
  using Clock = std::chrono::steady_clock;
  int launches = -1;
  Clock::time_point launched;
  const Json seen = client(0, [&](const Json& c) {
    if (std::exchange(launches, c["launches"].get<int>()) != c["launches"]) launched = Clock::now();
    return Clock::now() - launched > std::chrono::milliseconds(1500);
  });
  EXPECT_EQ(seen["state"], "active");
  EXPECT_EQ(seen["mechanism"], "66 of 132 SMs (workers)");
}

TEST_F(WorkersTest, AProgramFollowsItsSmsWhileItsKernelsAreRewritten) {
  use("spatial");
  const auto other = start_other();
  const auto third = start_other("3");
  const auto program = start({"many", "told"});
  constexpr std::size_t kKernels = 30;
  (void)client(0, [](const Json& c) { return !c["kernels"].empty(); });
  third->kill();
  const Json seen =
      client(0, [](const Json& c) { return c["counters"]["used_sms"] == 66 || c["kernels"].size() == kKernels; });
  EXPECT_EQ(seen["counters"]["used_sms"], 66);
  EXPECT_LT(seen["kernels"].size(), kKernels);
  (void)program->finish();
}

// The compiler of a GPU's driver ends with the process, and does not return to a thread that uses it then.
TEST_F(WorkersTest, NoKernelIsRewrittenWhileTheProcessEnds) {
  use("spatial");
  const auto other = start_other();
  EXPECT_LT(start({"leave"})->result()["milliseconds"], 10);
}

TEST_F(WorkersTest, AGoalGetsPairsOfSms) {
  use("static_smqos");
  const auto other = start_other();
  const auto program = start({"compute", "60"}, "3", "", "3 0.8");
  // 0.8 of 132 SMs are 105.6, of which green contexts of 8 SMs can give 104 with 4 SMs of a rest.
  const auto has_part = [](const Json& c) {
    return c["mechanism"].get<std::string>().find("104 of 132") != std::string::npos;
  };
  EXPECT_EQ(client(3, has_part)["mechanism"], "highest stream priority, 104 of 132 SMs (workers)");
}

TEST_F(WorkersTest, TheZooLeavesTheSameBuffersFromItsFirstLaunchOn) {
  use("spatial", WorkerUse::always);
  const auto program = start({"zoo"});
  ASSERT_TRUE(program->says("all benchmarks have run"));
  const Json seen = client(0, is_placed);
  EXPECT_GT(seen["counters"]["placed_launches"], 10 * seen["counters"]["unplaced_launches"].get<int>());
  for (const auto& [kernel, form] : kernels(seen)) {
    const bool may_stay = kernel == "atomics_cas" || kernel == "mri_gridding_gridding";
    EXPECT_TRUE(form == "workers" || may_stay) << kernel << ": " << form;
  }
  const Json result = program->finish();
  EXPECT_GT(result["benchmarks"], 30);
  EXPECT_EQ(result["wrong"], "");
}

// On the cycle machine workers are on all SMs at the same time.
TEST_F(WorkersTest, KernelsAreTheSameInTime) {
  use("spatial", WorkerUse::always);
  more_variables_ = {{"WARPMUX_TIMING", "cycle"}, {"WARPMUX_SIMULATE", "v100"}};
  const auto program = start({"zoo", "atomics", "hotspot", "histo", "mergesort", "sgemm"});
  ASSERT_TRUE(program->says("all benchmarks have run"));
  const Json counters = status()["clients"][0]["counters"];
  EXPECT_EQ(counters["unplaced_launches"], 1) << "atomics_cas";
  EXPECT_GT(counters["placed_launches"], 10);
  EXPECT_EQ(counters["used_sms"], 132) << "those of the daemon's GPU";
  const Json result = program->finish();
  EXPECT_EQ(result["benchmarks"], 5);
  EXPECT_EQ(result["wrong"], "");
}

TEST_F(WorkersTest, InTimeKernelsRunOnSeveralSmsOfTheirProgramOnly) {
  use("spatial");
  const auto other = start_other();
  more_variables_ = {{"WARPMUX_TIMING", "cycle"}};
  const auto program = start({"where", "stream", "told"});
  (void)client(0, is_placed);
  const Json seen = program->finish();
  EXPECT_GT(seen["sms"], 1);
  EXPECT_LT(seen["last"], 66);
}

class WorkersUnderPolicy : public WorkersTest, public testing::WithParamInterface<const char*> {};

// ppq gives all SMs to the program of higher priority, so that kernels of the other have none while they run.
TEST_P(WorkersUnderPolicy, ResultsAreTheSame) {
  use(GetParam());
  const auto program = start({"visits", "told"});
  (void)client(0, [](const Json& c) { return c["state"] == "active"; });
  const auto other = start_other();
  (void)client(7, is_placed);
  const Json result = program->finish();
  EXPECT_GT(result["rounds"], 0);
  EXPECT_EQ(result["right"], result["rounds"]);
}
INSTANTIATE_TEST_SUITE_P(Policies, WorkersUnderPolicy, testing::Values("smqos", "spart", "dss", "ppq"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_F(WorkersTest, WorkersNeedAPolicyThatGivesSms) {
  for (const char* policy : {"", "even"}) {
    ArbiterOptions options = mps(50);
    options.policy = policy;
    options.sm_groups.sms = {132};
    options.sm_groups = options.sm_groups.for_workers(WorkerUse::beside_others);
    options.socket = socket_ + "2";
    const auto opened = Arbiter::open(options, "a GPU");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().what,
              "workers are for programs that share the GPU with --sharing mps under a policy that gives them SMs");
  }
}

class LongWorkersTest : public WorkersTest {};

TEST_F(LongWorkersTest, AHundredKilledProgramsLeaveNothingBehind) {
  use("spatial");
  const auto survivor = start({"visits", "told"});
  const auto other = start_other();
  for (int i = 0; i < 100; ++i) {
    const auto killed = start({"visits", "told"}, "3");
    std::this_thread::sleep_for(std::chrono::milliseconds(i * 37 % 400));
    killed->kill();
  }
  EXPECT_EQ(clients(2).size(), 2U);
  const Json result = survivor->finish();
  EXPECT_EQ(result["right"], result["rounds"]);
}

}  // namespace
}  // namespace wm::runtime
