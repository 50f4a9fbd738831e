// wm sim --machine block: applications and kernels on the block machine, and the outputs of such a run.
#include <gmock/gmock.h>

#include "base/json.h"
#include "cli/shell.h"

namespace wm::cli {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

TEST(SimBlock, ApplicationsShareASystem) {
  const Ran ran = run_wm(
      "sim --machine block --gpu k20c --app spmv:priority=1 --app tpacf --runs 1 --policy ppq:preemption=switch "
      "--json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json run = Json::parse(ran.out);
  EXPECT_EQ(run["machine"], "block");
  EXPECT_EQ(run["kernels"][0]["priority"], 1);
  EXPECT_EQ(run["kernels"][1]["runs_done"], 1);
  EXPECT_EQ(run["kernels"][1]["blocks_done"], 201);
  EXPECT_GT(run["kernels"][0]["normalized"].get<double>(), 0.3);
  EXPECT_GT(run["metrics"]["stp"].get<double>(), 1);
}

TEST(SimBlock, KernelsOfTheZooRunTooAndTakeWhatTheCycleMachineMeasures) {
  const std::string common = "sim --gpu qos16 --kernel sgemm --size small --cache '' --json - --machine ";
  const Ran cycle = run_wm(common + "cycle");
  const Ran block = run_wm(common + "block");
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  ASSERT_EQ(block.code, 0) << block.err;
  const double cycles = Json::parse(cycle.out)["cycles"].get<double>();
  EXPECT_NEAR(Json::parse(block.out)["cycles"].get<double>(), cycles, 0.05 * cycles);
}

// The kernel's rate is measured on the GPU that the system names.
TEST(SimBlock, KernelsRunOnASystemOfTheUsers) {
  const Scratch scratch;
  scratch.write("mine.yaml", "name: mine\ngpu: qos16\ncpu: {cores: 2}\nexecution: {decision_cycles: 16}\n");
  const std::string common = "sim --machine block --kernel sgemm --size small --cache '' --json - --gpu ";
  const Ran mine = run_wm(common + scratch.path("mine.yaml"));
  ASSERT_EQ(mine.code, 0) << mine.err;
  EXPECT_EQ(Json::parse(mine.out)["cycles"], Json::parse(run_wm(common + "qos16").out)["cycles"]);
}

TEST(SimBlock, MistakesAreNamedInOneLine) {
  EXPECT_EQ(run_wm("sim --app lbm").err, "wm: applications run on the block machine: --machine block\n");
  EXPECT_EQ(run_wm("sim --machine block --gpu k20c --app lbmm").err,
            "wm: unknown application 'lbmm' (did you mean 'lbm'?)\n");
  EXPECT_EQ(
      run_wm("sim --machine block --gpu k20c --app lbm --policy quota").err,
      "wm: policy 'quota' cannot run on the block machine, which cannot limit a kernel's instructions on an SM\n");
  EXPECT_EQ(run_wm("sim --machine blok --kernel sgemm").code, 2);
  EXPECT_THAT(run_wm("sim --machine block --gpu k20c --app lbm:process=0").err, HasSubstr("'process' counts from 1"));
  EXPECT_THAT(run_wm("sim --machine block --gpu k20c --app lbm:poisson=50:arrive=9 --cycles 1000000").err,
              HasSubstr("'arrive' has no meaning with requests"));
}

TEST(SimBlock, AClassWithoutCompletedRequestsHasNoLatency) {
  const Ran ran = run_wm("sim --machine block --gpu k20c --app lbm:poisson=2000 --cycles 1000 --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json service = Json::parse(ran.out)["classes"][0];
  EXPECT_EQ(service["requests"], 0);
  EXPECT_TRUE(service["p50_us"].is_null());
  EXPECT_TRUE(service["p99_us"].is_null());
}

// The run ends with its last request, 2 ms after the first; goodput is that of the second that was asked for.
TEST(SimBlock, GoodputIsOverTheTimeThatWasAskedFor) {
  const Scratch scratch;
  scratch.write("times.txt", "0\n1000\n2000\n");
  const Ran ran = run_wm("sim --machine block --gpu k20c --cycles 706000000 --json - --app spmv:requests=" +
                         scratch.path("times.txt"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json service = Json::parse(ran.out)["classes"][0];
  EXPECT_EQ(service["arrived"], 3);
  EXPECT_EQ(service["requests"], 3);
  EXPECT_NEAR(service["goodput_per_second"].get<double>(), 3, 0.001);
}

// Many more requests arrive than the GPU completes.
TEST(SimBlock, RequestsThatArrivedAreCounted) {
  const Ran ran = run_wm("sim --machine block --gpu k20c --app lbm:poisson=2000 --cycles 70600000 --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json service = Json::parse(ran.out)["classes"][0];
  EXPECT_NEAR(service["arrived"].get<double>(), 200, 60);
  EXPECT_LT(service["requests"], service["arrived"]);
  const Ran three =
      run_wm("sim --machine block --gpu k20c --app spmv:poisson=5000:launches=3 --cycles 7060000 --json -");
  ASSERT_EQ(three.code, 0) << three.err;
  EXPECT_EQ(Json::parse(three.out)["classes"][0]["arrived"], 3) << "the process takes no more";
}

// The isolated run has the durations of the run that is compared with it.
TEST(SimBlock, AProcessByItselfIsAsFastAsIsolatedWithEverySeed) {
  const Scratch scratch;
  scratch.write("few.yaml",
                "name: few\nkernels:\n  k: {blocks: 20, threads: 256, block_time: 1 ms, lognormal_variation: 2}\n"
                "trace:\n  - launch: k\n  - sync: all\n");
  for (const char* seed : {"1", "6"}) {
    const Ran ran = run_wm("sim --machine block --gpu k20c --once --json - --seed " + std::string(seed) + " --app " +
                           scratch.path("few.yaml"));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(Json::parse(ran.out)["kernels"][0]["normalized"], 1.0) << seed;
  }
}

// Three processes of higher priority keep the fourth from every SM.
// An isolated kernel takes the time of the cycle machine, whatever its saturation; on half of the SMs blocks that
// saturate an SM take longer. sgemm has four blocks for each SM, and room for more.
TEST(SimBlock, SaturatedKernelsSlowEachOtherOnFewerSms) {
  const auto slowdown = [](const std::string& setting, const std::string& others) {
    const Ran ran =
        run_wm("sim --machine block --gpu qos16 --once --policy spatial --json - --kernel sgemm" + setting + others);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return 1 / Json::parse(ran.out)["kernels"][0]["normalized"].get<double>();
  };
  EXPECT_NEAR(slowdown(":saturation=0.1", ""), 1, 0.01);
  EXPECT_NEAR(slowdown("", " --kernel sgemm"), 1, 0.01);
  EXPECT_NEAR(slowdown(":saturation=0.1", " --kernel sgemm"), 2, 0.05);
}

TEST(SimBlock, ARunInWhichAProcessStarvesIsRefused) {
  const Ran ran = run_wm(
      "sim --machine block --gpu k20c --app sgemm:priority=1 --app sgemm:priority=1 --app sgemm:priority=1 --app spmv "
      "--runs 1 --policy npq");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("wm: 'spmv' starves under this policy: it has completed 0 of 1 runs by cycle "));
}

// Neither has completed a run by then; the number of requests asked for is far above what can arrive.
TEST(SimBlock, ARunThatEndsAtACycleIsNotTakenForStarvation) {
  for (const char* app : {"lbm", "lbm:poisson=100"}) {
    const Ran ran =
        run_wm(std::string("sim --machine block --gpu k20c --runs 4000000000 --cycles 1000000 --app ") + app);
    EXPECT_EQ(ran.code, 0) << ran.err;
  }
  EXPECT_EQ(run_wm("sim --machine block --gpu k20c --runs 2 --cycles 1000000 --app lbm").code, 0);
}

// An application with two streams, whose launches are shown as those of one process.
TEST(SimBlock, ThePageAndTheJsonShowProcessesOverTime) {
  const Scratch scratch;
  scratch.write("two.yaml",
                "name: two\nkernels:\n  k: {blocks: 64, threads: 256, block_time: 20 us, instructions: 100000}\n"
                "trace:\n- {launch: k, stream: 0}\n- {launch: k, stream: 1}\n");
  const Ran ran = run_wm("sim --machine block --gpu k20c --app " + scratch.path("two.yaml") +
                         " --app spmv --policy spatial --runs 1 --timeline --json " + scratch.path("run.json") +
                         " --html " + scratch.path("page.html"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json run = Json::parse(scratch.read("run.json"));
  const Json& timeline = run["timeline"];
  ASSERT_EQ(timeline["held"].size(), 2U);
  EXPECT_EQ(timeline["held"][0].size(), 13U);
  EXPECT_EQ(timeline["cycles"], run["cycles"]);
  const Json& curves = timeline["curves"];
  double instructions = 0;
  for (std::size_t i = 0; i < curves["begin"].size(); ++i)
    instructions += curves["kernels"][0]["ipc"][i].get<double>() * curves["cycles"][i].get<double>();
  const double counted = run["kernels"][0]["instructions"].get<double>();
  EXPECT_NEAR(instructions, counted, 0.02 * counted);
  EXPECT_THAT(scratch.read("page.html"), HasSubstr("\"workload\":\"" + scratch.path("two.yaml") + " + spmv\""));
}

TEST(SimBlock, OutputsOfTheCycleMachineAreRefused) {
  const std::string run = "sim --machine block --gpu k20c --app spmv --once ";
  for (const char* output : {"--stats", "--isolated", "--dump a"})
    EXPECT_EQ(run_wm(run + output).err,
              "wm: --stats, --isolated and --dump need the cycle machine, which executes instructions\n");
}

TEST(SimCluster, ReportsApplicationsOfOneClassTogether) {
  const Ran ran = run_wm(
      "sim --machine block --gpu k20c --gpus 4 --seconds 1 --app spmv:poisson=50:class=both "
      "--app sgemm:poisson=50:class=both --app spmv:poisson=10 --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto classes = nlohmann::ordered_json::parse(ran.out)["classes"];
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0]["name"], "both");
  EXPECT_GT(classes[0]["work_us"], classes[1]["work_us"]);  // the mean of a longer application and of spmv
  EXPECT_EQ(classes[1]["name"], "spmv");
}

}  // namespace
}  // namespace wm::cli
