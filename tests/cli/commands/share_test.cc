// wm bench share and wm cl run: the figures, and, where there is a device, the whole way.
#include <gtest/gtest.h>

#ifdef WM_RUNTIME

#include "base/json.h"
#include "cli/commands/share_report.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using nlohmann::json;

// Two clients of a second each: one runs as fast as in isolation, the other waits for it.
TEST(ShareReport, FiguresAreThePapers) {
  const std::uint64_t s = 1'000'000'000;
  const ShareCase c{.benchmarks = {"a", "b"},
                    .isolated = {1, 1},
                    .isolated_rewritten = {1, 2},
                    .rounds = {{{0, s, 0, s}, {0, 2 * s, s / 2, 2 * s}}}};
  const ShareFigures f = figures_of(c);
  EXPECT_DOUBLE_EQ(f.slowdown[0], 1);
  EXPECT_DOUBLE_EQ(f.slowdown[1], 2);
  EXPECT_DOUBLE_EQ(f.unfairness, 2);
  EXPECT_DOUBLE_EQ(f.ideal_unfairness, 1);
  EXPECT_DOUBLE_EQ(f.antt, 1.5);
  EXPECT_DOUBLE_EQ(f.worst, 2);
  EXPECT_DOUBLE_EQ(f.stp, 1.5);
  EXPECT_DOUBLE_EQ(f.overlap, 0.25);
  EXPECT_DOUBLE_EQ(f.seconds, 2);
  EXPECT_DOUBLE_EQ(f.unfairness_in_form, 1);
  const ShareSummary summary = summarise("p", {f}, {f});
  EXPECT_EQ(summary.clients, 2U);
  EXPECT_DOUBLE_EQ(summary.fairer, 1);
  EXPECT_DOUBLE_EQ(summary.throughput, 1);
}

// The daemon is a child of the benchmark; it must not outlive it.
TEST(WmShare, AKilledBenchmarkLeavesNoDaemon) {
  const Ran ran = shell(binary_path("bin/wm") + R"( bench calls >/dev/null 2>&1 & bench=$!
    for i in $(seq 50); do read -r daemon rest </proc/$bench/task/$bench/children; [ -n "$daemon" ] && break; sleep 0.1; done
    kill -KILL $bench
    for i in $(seq 50); do grep -qs 'State:.[^Z]' /proc/$daemon/status || break; sleep 0.1; done
    echo "daemon ${daemon:-none}"; grep -s State: /proc/$daemon/status)");
  EXPECT_EQ(ran.out.find("none"), std::string::npos) << ran.out;
  EXPECT_TRUE(ran.out.find("State:") == std::string::npos || ran.out.find("zombie") != std::string::npos) << ran.out;
}

TEST(WmShare, ClientsOfADaemonGiveTheRightResults) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const Ran ran =
      run_wm("bench share vecadd fma --clients 2 --workloads 1 --rounds 1 --size small --policy accelos --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json out = json::parse(ran.out);
  EXPECT_EQ(out["items"].size(), 2U);
  EXPECT_EQ(out["items"][0]["policy"], "fifo");
  EXPECT_EQ(out["items"][1]["policy"], "accelos");
  EXPECT_EQ(out["items"][1]["slowdowns"].size(), 2U);
  EXPECT_EQ(out["summary"].size(), 2U);
  EXPECT_GE(out["items"][1]["ideal_unfairness"], 1);
}

// Mri-gridding counts its samples into bins, and a second run on what the first left writes behind their ends.
TEST(WmShare, RepeatedRunsAreOneProgramOnTheSameData) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const auto launches_of = [](const std::string& order) {
    const Ran ran =
        shell("printf 'prepare\\n" + order + "\\n' | " + binary_path("bin/wm") + " cl run fma --size small --orders");
    return json::parse(ran.out.substr(ran.out.rfind('{')))["launches"].get<int>();
  };
  EXPECT_EQ(launches_of("run 0 7"), 7 * launches_of("run 0"));
  for (const char* wrong : {"run 0 0", "run 0 -5", "run 0 x", "run 0 10001"}) {
    const Ran ran = shell("printf 'prepare\\n" + std::string(wrong) + "\\n' | " + binary_path("bin/wm") +
                          " cl run fma --size small --orders");
    EXPECT_NE(ran.out.find("1 to 10000 runs"), std::string::npos) << wrong << ": " << ran.out;
  }
  const Ran ran = run_wm(
      "bench share mri-gridding --clients 2 --workloads 1 --rounds 1 --size small --policy fifo "
      "--repeat 7 --json -");
  ASSERT_EQ(ran.code, 0) << ran.err << "; its outputs are those of one run";
  EXPECT_EQ(json::parse(ran.out)["repeat"], 7);
}

TEST(WmShare, BadInputIsOneLine) {
  EXPECT_EQ(run_wm("bench share nosuch").code, 2);
  EXPECT_EQ(run_wm("bench share --clients 0").code, 2);
  EXPECT_EQ(run_wm("bench share --repeat 0").code, 2);
  EXPECT_EQ(run_wm("cl run --size huge").code, 2);
}

}  // namespace
}  // namespace wm::cli
#endif
