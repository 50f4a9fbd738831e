// The time of accesses to shared, constant and global memory.
#include "sim/cycle/sm/memory_stage.h"

#include "sim/cycle/sm/timed_kernel.h"

namespace wm::sim {
namespace {

class MemoryStageTest : public testing::Test {
 protected:
  MemoryStageTest() {
    block_.run = kernel_.block(0);
    block_.run->begin({.sm = 0, .sms = 1});
    slot_.resident = &block_;
    step_.memory = true;
    step_.access = &access_;
    access_.bytes = 4;
    access_.lanes = ~exec::Mask{0};
  }

  // An access of all lanes, `stride` bytes apart.
  std::uint64_t access(ptx::Space space, TimedKind kind, std::uint64_t stride, std::uint64_t now) {
    access_.space = space;
    for (std::size_t lane = 0; lane < exec::kLanes; ++lane) access_.address[lane] = 4096 + lane * stride;
    op_.kind = kind;
    op_.writes = kind == TimedKind::store ? 0 : 1;
    return memory_.access(slot_, 5, op_, step_, now, counters_);
  }

  gpu::GpuConfig gpu_ = test_gpu("qos16");
  TimedKernel kernel_{gpu_, kernel_text(""), 1, 32};
  MemoryStage memory_{gpu_, *derive_timing(gpu_), 0};
  ResidentBlock block_;
  WarpSlot slot_;
  TimedOp op_;
  exec::Access access_;
  exec::Step step_;
  SmCounters counters_{};
};

TEST_F(MemoryStageTest, ABankConflictOfSharedMemoryTakesACycleForEachRow) {
  const std::uint64_t row = access(ptx::Space::shared, TimedKind::load, 4, 0);
  EXPECT_EQ(counters_.shared_conflict_cycles, 0U);
  const std::uint64_t column = access(ptx::Space::shared, TimedKind::load, 4 * gpu_.shared.banks, 1000) - 1000;
  EXPECT_EQ(column - row, 31U);
  EXPECT_EQ(counters_.shared_conflict_cycles, 31U);
}

TEST_F(MemoryStageTest, ALoadThatMissesIsInFlightUntilItIsFinished) {
  EXPECT_EQ(access(ptx::Space::global, TimedKind::load, 4, 0), Scoreboard::kPending);
  EXPECT_EQ(slot_.loads, 1U);
  EXPECT_EQ(block_.loads, 1U);
  ASSERT_FALSE(memory_.lsu().outbox().empty());
  std::vector<std::uint32_t> done;
  while (!memory_.lsu().outbox().empty()) {
    Message reply = memory_.lsu().outbox().front();
    memory_.lsu().outbox().erase(memory_.lsu().outbox().begin());
    reply.time = 300;
    memory_.lsu().replied(reply, done, &counters_);
  }
  ASSERT_EQ(done.size(), 1U);
  const MemoryStage::Load load = memory_.finish(done[0]);
  EXPECT_EQ(load.warp, 5U);
  EXPECT_EQ(load.op, &op_);
  EXPECT_EQ(load.atomic, nullptr);
}

TEST_F(MemoryStageTest, AConstantComesAfterItsLatencyOnceItsLineIsThere) {
  EXPECT_EQ(access(ptx::Space::constant, TimedKind::constant, 0, 0), gpu_.constant.miss_latency);
  EXPECT_EQ(access(ptx::Space::constant, TimedKind::constant, 0, 500), 500U + gpu_.constant.latency);
}

}  // namespace
}  // namespace wm::sim
