// Atomics on their way to L2: accesses to the same lines wait for them.
#include "sim/cycle/sm/atomics_in_flight.h"

#include <gmock/gmock.h>

#include "sim/cycle/memory/message.h"
#include "sim/cycle/sm/timed_kernel.h"

namespace wm::sim {
namespace {

// A warp whose next instruction loads 4 bytes a lane from the buffer.
class AtomicsInFlightTest : public testing::Test {
 protected:
  AtomicsInFlightTest() {
    run_->begin({.sm = 0, .sms = 1});
    exec::Warp& warp = run_->block.warp(0);
    exec::Step step;
    while (!warp.peek(access_)) warp.step(step);
  }

  [[nodiscard]] exec::PendingAtomic atomic_at(std::uint64_t address) const {
    exec::PendingAtomic atomic;
    atomic.lanes = 1;
    atomic.address[0] = address;
    return atomic;
  }

  gpu::GpuConfig gpu_ = test_gpu("qos16");
  TimedKernel kernel_{
      gpu_, kernel_text("mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r5, [%rd3];"), 1, 32};
  std::unique_ptr<BlockRun> run_ = kernel_.block(0);
  exec::Access access_;
  AtomicsInFlight atomics_;
};

TEST_F(AtomicsInFlightTest, AnAccessToTheLineOfAnAtomicWaitsUntilItIsComplete) {
  const exec::PendingAtomic atomic = atomic_at(access_.address[7]);
  atomics_.add(atomic);
  EXPECT_TRUE(atomics_.any());
  EXPECT_TRUE(atomics_.conflicts(run_->block.warp(0)));
  atomics_.remove(atomic);
  EXPECT_FALSE(atomics_.any());
  EXPECT_FALSE(atomics_.conflicts(run_->block.warp(0)));
}

TEST_F(AtomicsInFlightTest, AnAtomicOnAnotherLineDoesNotDelayTheAccess) {
  atomics_.add(atomic_at(access_.address[0] + 3 * kLineBytes));
  EXPECT_FALSE(atomics_.conflicts(run_->block.warp(0)));
}

TEST_F(AtomicsInFlightTest, WarpsThatWaitAreTakenOnceInOrder) {
  atomics_.wait(9);
  atomics_.wait(4);
  EXPECT_THAT(atomics_.take_waiting(), testing::ElementsAre(9, 4));
  EXPECT_THAT(atomics_.take_waiting(), testing::IsEmpty());
}

}  // namespace
}  // namespace wm::sim
