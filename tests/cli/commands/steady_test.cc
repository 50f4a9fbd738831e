// Co-runs are steady: kernels repeat to the end of the run, so that rates cover the same cycles; --once runs each once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

Json run_of(const std::string& arguments) {
  const Ran ran = run_wm("sim --size small --cache '' --json - " + arguments);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return ran.code == 0 ? Json::parse(ran.out) : Json{};
}

TEST(Steady, CoRunsWithALengthRepeatKernelsUnlessOnceIsGiven) {
  const std::string pair = "--kernel vecadd --kernel fma --cycles 8000 ";
  const Json steady = run_of(pair);
  EXPECT_GT(steady["kernels"][0]["launches_done"], 1);
  EXPECT_EQ(steady["kernels"][0]["cycles"], 8000);
  EXPECT_EQ(steady["kernels"][1]["cycles"], 8000);
  const Json once = run_of(pair + "--once");
  EXPECT_EQ(once["kernels"][0]["launches_done"], 1);
  EXPECT_LT(once["kernels"][0]["cycles"], 8000);
  const Json repeated = run_of("--kernel vecadd:launches=0 --kernel fma:launches=0 --cycles 8000");
  EXPECT_EQ(repeated["run_hash"], steady["run_hash"]);
}

TEST(Steady, ACoRunWithoutALengthIsAsLongAsTheLongestIsolatedRunForEachKernel) {
  const Json vecadd = run_of("--kernel vecadd");
  const Json fma = run_of("--kernel fma");
  const auto longest =
      std::max(vecadd["kernels"][0]["cycles"].get<std::uint64_t>(), fma["kernels"][0]["cycles"].get<std::uint64_t>());
  for (const char* policy : {"left_over", "spatial"}) {
    const Json run = run_of("--kernel vecadd --kernel fma --policy " + std::string(policy));
    EXPECT_EQ(run["cycles"], 2 * longest) << policy;
    for (const Json& kernel : run["kernels"]) EXPECT_EQ(kernel["cycles"], 2 * longest) << policy;
  }
  const Json arriving = run_of("--kernel vecadd --kernel fma:arrive=1000");
  EXPECT_EQ(arriving["cycles"], 2 * longest + 1000);
}

TEST(Steady, OnceAndOneKernelByItselfRunToTheEndAndAreVerified) {
  EXPECT_EQ(run_of("--kernel vecadd")["kernels"][0]["verified"], true);
  const Json once = run_of("--kernel vecadd --kernel fma --once");
  for (const Json& kernel : once["kernels"]) EXPECT_EQ(kernel["verified"], true);
  const Json counted = run_of("--kernel vecadd:launches=1 --kernel fma:launches=1");
  EXPECT_EQ(counted["run_hash"], once["run_hash"]);
}

TEST(Steady, TheFirstCompleteRunOfARepeatingKernelIsVerified) {
  const std::string pair = "sim --kernel vecadd --kernel fma --size small --cache '' --cycles 8000";
  const Json steady = run_of("--kernel vecadd --kernel fma --cycles 8000");
  for (const Json& kernel : steady["kernels"]) EXPECT_EQ(kernel["verified"], true);
  EXPECT_GT(steady["kernels"][0]["runs_done"], 1);
  EXPECT_THAT(run_wm(pair).out, HasSubstr("Verified: the output of a kernel's first complete run"));
  const Json cut = run_of("--kernel vecadd --kernel fma --cycles 500");
  EXPECT_EQ(cut["kernels"][0]["runs_done"], 0);
  EXPECT_EQ(cut["kernels"][0]["verified"], nullptr);
}

TEST(Steady, AWrongResultOfARepeatingKernelIsReported) {
  const Scratch folder;
  std::string text = shell("cat " + source_path("examples/saxpy/saxpy.yaml")).out;
  text.replace(text.find("step: 2.5"), 9, "step: 2.0");
  folder.write("saxpy.yaml", text);
  folder.write("saxpy.ptx", shell("cat " + source_path("examples/saxpy/saxpy.ptx")).out);
  const std::string kernels = " --kernel " + folder.path("saxpy.yaml") + " --kernel vecadd --size small --cache '' ";
  const std::string message = "saxpy.yaml computed a wrong result under even: y[1] is 3.5, expected 3";
  const Ran sim = run_wm("sim --policy even" + kernels + "--json -");
  EXPECT_EQ(sim.code, 1);
  EXPECT_THAT(sim.err, HasSubstr(message));
  const Json kernel = Json::parse(sim.out)["kernels"][0];
  EXPECT_EQ(kernel["verified"], false);
  EXPECT_THAT(kernel["mismatch"].get<std::string>(), HasSubstr("y[1] is 3.5"));
  const Ran compared = run_wm("compare --policy even --policy spatial" + kernels);
  EXPECT_EQ(compared.code, 1);
  EXPECT_THAT(compared.err, HasSubstr(message));
  EXPECT_THAT(compared.out, HasSubstr("saxpy.yaml under 0 of 2 policies, vecadd under 2 of 2 policies."));
}

TEST(Steady, ANoteSaysWhichCyclesTheRatesCover) {
  const std::string pair = "sim --kernel vecadd --kernel fma --size small --cache '' ";
  EXPECT_THAT(run_wm(pair).out, HasSubstr("which is 2 times the longest isolated run"));
  EXPECT_THAT(run_wm(pair + "--once").out, HasSubstr("each rate is over the kernel's own time"));
  const Ran with_length = run_wm(pair + "--cycles 8000");
  EXPECT_THAT(with_length.out, Not(HasSubstr("own time")));
  EXPECT_THAT(with_length.out, Not(HasSubstr("longest isolated run")));
}

TEST(Steady, ComparedRunsCoverTheSameCycles) {
  const Ran ran =
      run_wm("compare --kernel vecadd --kernel fma --size small --cache '' --policy left_over --policy even --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json items = Json::parse(ran.out)["items"];
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0]["cycles"], items[1]["cycles"]);
}

TEST(Steady, HoldsOnTheBlockMachineToo) {
  const Json apps = run_of("--machine block --gpu k20c --app spmv --app tpacf --policy spatial");
  EXPECT_GT(apps["kernels"][0]["runs_done"], 1);
  const Json once = run_of("--machine block --gpu k20c --app spmv --app tpacf --policy spatial --once");
  EXPECT_EQ(once["kernels"][0]["runs_done"], 1);
  const Json kernels = run_of("--machine block --gpu qos16 --kernel vecadd --kernel fma");
  EXPECT_GT(kernels["kernels"][0]["launches_done"], 1);
  const Json with_length = run_of("--machine block --gpu qos16 --kernel vecadd --kernel fma --cycles 8000");
  EXPECT_EQ(with_length["cycles"], 8000);
}

}  // namespace
}  // namespace wm::cli
