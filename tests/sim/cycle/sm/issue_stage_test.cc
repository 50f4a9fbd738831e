// The schedulers' loop by itself: it issues at the cycle at which operands and unit allow it, and passes over the
// others.
#include "sim/cycle/sm/issue_stage.h"

#include "sim/cycle/sm/timed_kernel.h"

namespace wm::sim {
namespace {

// One block on an issue stage, without replies or followers.
class IssueStageTest : public testing::Test, public IssueEvents {
 protected:
  void on_arrival(std::uint64_t) override { ++arrivals_; }
  void on_warp_exited(WarpSlot& warp, std::uint64_t now) override {
    issue_->end(warp, now);
    exited_.push_back(now);
  }
  void on_barrier(ResidentBlock&, std::uint64_t) override {}
  void on_fault(ResidentBlock&) override {}

  void start(const std::string& body, std::uint32_t threads) {
    kernel_ = std::make_unique<TimedKernel>(gpu_, kernel_text(body), 1, threads);
    issue_ = std::make_unique<IssueStage>(gpu_, *derive_timing(gpu_), 0, *this);
    block_.run = kernel_->block(0);
    block_.run->begin({.sm = 0, .sms = 1});
    block_.warps.assign(threads / 32, 0);
    issue_->counters().set_program(0, kernel_->timed());
    issue_->set_kernels(1);
    issue_->warps().reserve(threads / 32);
    for (std::uint32_t i = 0; i < threads / 32; ++i) {
      WarpSlot& w = issue_->warps().claim(block_, i);
      issue_->add(w, 0);
      issue_->prepare(w, 0, 1);
    }
    issue_->wake_by(0);
  }
  // When the last warp exits after the body.
  std::uint64_t end_of(const std::string& body, std::uint32_t threads) {
    exited_.clear();
    start(body, threads);
    issue_->run(0, 100'000);
    EXPECT_EQ(exited_.size(), threads / 32);
    return exited_.empty() ? 0 : exited_.back();
  }
  static std::string chain(int length) {
    std::string text;
    for (int i = 0; i < length; ++i) text += "fma.rn.f32 %f3, %f3, %f1, %f2;\n";
    return text;
  }

  gpu::GpuConfig gpu_ = test_gpu("v100");
  std::unique_ptr<TimedKernel> kernel_;
  std::unique_ptr<IssueStage> issue_;
  ResidentBlock block_;
  std::vector<std::uint64_t> exited_;
  int arrivals_ = 0;
};

TEST_F(IssueStageTest, ADependentInstructionIssuesExactlyALatencyLater) {
  gpu_.icache.miss_latency = 0;
  const std::uint32_t latency = gpu_.sm.units[static_cast<std::size_t>(gpu::Unit::fp32)].latency;
  EXPECT_EQ(end_of(chain(12), 32) - end_of(chain(4), 32), 8U * latency);
}

TEST_F(IssueStageTest, WarpsOfDifferentSchedulersDoNotDelayEachOther) {
  const std::uint64_t one = end_of(chain(8), 32);
  EXPECT_EQ(end_of(chain(8), 32 * gpu_.sm.schedulers), one);
}

TEST_F(IssueStageTest, ARunEndsBeforeItsBoundAndGoesOnFromThere) {
  const std::uint64_t full = end_of(chain(40), 64);
  exited_.clear();
  start(chain(40), 64);
  for (std::uint64_t now = 0; now < full + 20; now += 7) {
    issue_->run(now, now + 7);
    EXPECT_GE(issue_->now(), now + 7) << "the next cycle with something to do";
  }
  ASSERT_EQ(exited_.size(), 2U);
  EXPECT_EQ(exited_.back(), full);
}

TEST_F(IssueStageTest, AKernelWithoutQuotaLeftIssuesNothingUntilItGetsMore) {
  start(chain(8), 32);
  issue_->set_quota(0, 0, 0, true);
  issue_->run(0, 500);
  EXPECT_TRUE(exited_.empty());
  issue_->charge_until(500);
  EXPECT_GT(issue_->counters().totals(0).stalls[static_cast<std::size_t>(Stall::quota)], 400U);
  issue_->set_quota(0, QuotaGate::kNoQuota, 500, true);
  issue_->run(500, 5000);
  EXPECT_EQ(exited_.size(), 1U);
}

TEST_F(IssueStageTest, EventsFromOutsideAreReportedInTheirCycle) {
  start(chain(2), 32);
  issue_->set_reply_arrival(2000);
  issue_->run(0, 2000);
  EXPECT_EQ(arrivals_, 0);
  issue_->run(2000, 2001);
  EXPECT_EQ(arrivals_, 1);
}

}  // namespace
}  // namespace wm::sim
