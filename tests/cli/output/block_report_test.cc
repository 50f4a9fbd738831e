// The JSON of a run of the block machine.
#include "cli/output/block_report.h"

#include <gtest/gtest.h>

namespace wm::cli {
namespace {

lab::BlockRunResult run_of(std::uint64_t launches) {
  lab::BlockRunResult r;
  r.policy = "left_over";
  for (const gpu::Interval when : {gpu::Interval{0, 100}, gpu::Interval{50, 200}}) {
    lab::BlockProcessResult p;
    p.counts.gpu = when;
    p.counts.launches = launches;
    r.processes.push_back(p);
  }
  return r;
}

TEST(BlockReport, OverlapIsThatOfOneLaunchOfEachProcess) {
  EXPECT_DOUBLE_EQ(json_of(run_of(1))["metrics"]["overlap"], 0.25);
}

// The interval of a process would contain the time between its launches.
TEST(BlockReport, SeveralLaunchesHaveNoOverlap) { EXPECT_TRUE(json_of(run_of(2))["metrics"]["overlap"].is_null()); }

}  // namespace
}  // namespace wm::cli
