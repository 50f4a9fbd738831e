// wm sim as a user sees it: intervals, traces, and what it says to bad input.
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"

namespace wm::cli {
namespace {

using Json = nlohmann::json;

TEST(Sim, IntervalsStandInTheJsonAndAddUp) {
  const Ran ran =
      run_wm("sim --kernel sgemm --kernel lbm --size small --policy smk --stats --interval 5000 --json - --cache ''");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json run = Json::parse(ran.out);
  std::uint64_t cycles = 0;
  std::uint64_t instructions = 0;
  bool quota = false;
  for (const Json& i : run["intervals"]) {
    cycles += i["cycles"].get<std::uint64_t>();
    instructions += i["kernels"][1]["instructions"].get<std::uint64_t>();
    quota = quota || i["kernels"][0]["quota"].is_number();
  }
  EXPECT_EQ(cycles, run["cycles"]);
  EXPECT_EQ(instructions, run["kernels"][1]["instructions"]);
  EXPECT_TRUE(quota);
}

TEST(Sim, WithoutStatsThereAreNoIntervals) {
  const Ran ran = run_wm("sim --kernel vecadd --size small --json - --cache ''");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(Json::parse(ran.out).contains("intervals"));
}

TEST(Sim, TheTableHasARowAKernelAndInterval) {
  const Ran ran = run_wm("sim --kernel vecadd --size small --stats --interval 1000000 --cache ''");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.rfind("from cycle  kernel", 0), 0U) << ran.out;
  EXPECT_NE(ran.out.find("\n         0  vecadd"), std::string::npos) << ran.out;
}

TEST(Sim, ATraceIsWrittenWhereItWasAskedFor) {
  const Scratch folder;
  const Ran ran = run_wm("sim --kernel vecadd --size small --cache '' --trace " + folder.path("v.pftrace"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(folder.read("v.pftrace").find("SM 00"), std::string::npos);
}

TEST(Sim, ATraceThatCannotBeWrittenIsAnErrorInOneLine) {
  const Ran ran = run_wm("sim --kernel vecadd --size small --cache '' --trace /nowhere/v.pftrace");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("/nowhere/v.pftrace"), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

}  // namespace
}  // namespace wm::cli
