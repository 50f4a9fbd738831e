// The JSON of a run of the block machine.
#include "cli/output/block_report.h"

#include <gtest/gtest.h>

namespace wm::cli {
namespace {

lab::BlockRunResult run_of(std::uint64_t launches, std::size_t runs = 1) {
  lab::BlockRunResult r;
  r.policy = "left_over";
  for (const gpu::Interval when : {gpu::Interval{0, 100}, gpu::Interval{50, 200}}) {
    lab::BlockProcessResult p;
    p.counts.gpu = when;
    p.counts.launches = launches;
    p.counts.turnarounds.assign(runs, 200);
    r.processes.push_back(p);
  }
  return r;
}

TEST(BlockReport, OverlapIsThatOfOneLaunchOfEachProcess) {
  EXPECT_DOUBLE_EQ(json_of(run_of(1))["metrics"]["overlap"], 0.25);
}

// The interval of a process would contain the time between its launches.
TEST(BlockReport, SeveralLaunchesHaveNoOverlap) { EXPECT_TRUE(json_of(run_of(2))["metrics"]["overlap"].is_null()); }

// Cycles that the user set may end a run while a second launch, or the first one, has blocks.
TEST(BlockReport, LaunchesThatHaveNotEndedHaveNoOverlap) {
  EXPECT_TRUE(json_of(run_of(1, 0))["metrics"]["overlap"].is_null());
  EXPECT_TRUE(json_of(run_of(0, 0))["metrics"]["overlap"].is_null());
}

}  // namespace
}  // namespace wm::cli
