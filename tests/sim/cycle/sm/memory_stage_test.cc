// The time of accesses to shared, constant and global memory.
#include "sim/cycle/sm/memory_stage.h"

#include <algorithm>

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
  TimedKernel kernel_{gpu_, kernel_text(".local .align 16 .b8 own[64];\n"), 1, 32};
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

// Local memory: 64 bytes for each thread of a warp, 16 lines. A stage of its own has cold caches.
class LocalMemoryTest : public MemoryStageTest {
 protected:
  // Lines that a warp in `slot` of `sm` asks memory for when all its lanes load `bytes` at `offset`.
  std::vector<LineAddress> lines(std::uint16_t sm, std::uint32_t slot, std::uint64_t offset, std::uint8_t bytes = 4) {
    MemoryStage stage(gpu_, *derive_timing(gpu_), sm);
    access_.space = ptx::Space::local;
    access_.bytes = bytes;
    access_.address.fill(offset);
    op_.kind = TimedKind::load;
    op_.writes = 1;
    stage.access(slot_, slot, op_, step_, 0, counters_);
    std::vector<LineAddress> lines;
    for (const Message& m : stage.lsu().outbox()) lines.push_back(m.line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

TEST_F(LocalMemoryTest, LanesAtOneOffsetShareALine) {
  EXPECT_EQ(lines(0, 0, 0).size(), 1U);
  EXPECT_EQ(lines(0, 0, 4)[0], lines(0, 0, 0)[0] + 1);
}

TEST_F(LocalMemoryTest, AVectorOfFourWordsTakesTheLinesOfItsWords) {
  const std::vector<LineAddress> vector = lines(0, 0, 16, 16);
  ASSERT_EQ(vector.size(), 4U);
  for (std::size_t word = 0; word < 4; ++word) EXPECT_EQ(vector[word], lines(0, 0, 16 + 4 * word)[0]);
}

TEST_F(LocalMemoryTest, ALaterWarpInTheSlotHasTheSameLines) {
  slot_.age = 1;
  const std::vector<LineAddress> first = lines(0, 3, 8);
  slot_.age = 1000;
  EXPECT_EQ(lines(0, 3, 8), first);
}

TEST_F(LocalMemoryTest, SlotsAndSmsHaveMemoryOfTheirOwnWithoutGaps) {
  EXPECT_EQ(lines(0, 1, 0)[0], lines(0, 0, 60)[0] + 1);
  EXPECT_EQ(lines(1, 0, 0)[0], lines(0, gpu_.sm.warps() - 1, 60)[0] + 1);
}

TEST_F(LocalMemoryTest, KernelsHaveMemoryOfTheirOwn) {
  const std::vector<LineAddress> first = lines(0, 0, 0);
  slot_.kernel = 1;
  EXPECT_NE(lines(0, 0, 0), first);
}

}  // namespace
}  // namespace wm::sim
