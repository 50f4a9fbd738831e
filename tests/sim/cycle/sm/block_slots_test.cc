// Blocks of an SM: how they start, end, are followed and stop.
#include "sim/cycle/sm/block_slots.h"

#include "sim/cycle/sm/sm.h"
#include "sim/cycle/sm/timed_kernel.h"

namespace wm::sim {
namespace {

class BlockSlotsTest : public testing::Test {
 protected:
  void run(std::uint64_t until) {
    for (; now_ < until; now_ += 50) sm_.run(now_, now_ + 50);
  }

  gpu::GpuConfig gpu_ = test_gpu("qos16");
  TimedKernel kernel_{gpu_, kernel_text("fma.rn.f32 %f3, %f1, %f2, %f2;"), 8, 64};
  sim::Sm sm_{gpu_, *derive_timing(gpu_), 0};
  std::uint64_t now_ = 0;
};

TEST_F(BlockSlotsTest, ABlockOccupiesItsWarpsFromItsAcceptanceToItsEnd) {
  const std::uint32_t free = sm_.free_warps();
  sm_.start(kernel_.block(3), 100);
  EXPECT_EQ(sm_.free_warps(), free - 2);
  EXPECT_EQ(sm_.resident(0), 1U);
  run(100);
  EXPECT_TRUE(sm_.finished().empty()) << "it starts at 100";
  run(2000);
  ASSERT_EQ(sm_.finished().size(), 1U);
  EXPECT_EQ(sm_.finished()[0].number, 3U);
  EXPECT_GT(sm_.finished()[0].at, 100U);
  EXPECT_EQ(sm_.free_warps(), free);
  EXPECT_EQ(sm_.resident(0), 0U);
}

TEST_F(BlockSlotsTest, AnOfferedBlockFollowsOneOfItsKernelOnly) {
  sm_.start(kernel_.block(0), 0);
  sm_.offer({1, 7});
  sm_.offer({0, 5});
  run(2000);
  ASSERT_EQ(sm_.finished().size(), 2U);
  EXPECT_TRUE(sm_.finished()[0].followed);
  EXPECT_EQ(sm_.finished()[0].follower, 5U);
  EXPECT_EQ(sm_.finished()[0].run, nullptr) << "its memory is the follower's";
  EXPECT_EQ(sm_.finished()[1].number, 5U);
  EXPECT_GT(sm_.finished()[1].at, sm_.finished()[0].follows_at);
  ASSERT_EQ(sm_.offers().size(), 1U);
  EXPECT_EQ(sm_.offers()[0].number, 7U);
  sm_.clear_offers();
  EXPECT_TRUE(sm_.offers().empty());
}

TEST_F(BlockSlotsTest, TheYoungestBlocksStopFirst) {
  for (std::uint64_t number = 0; number < 3; ++number) sm_.start(kernel_.block(number), 0);
  EXPECT_EQ(sm_.stop(0, 2, 0), 2U);
  ASSERT_EQ(sm_.stopped().size(), 2U);
  EXPECT_EQ(sm_.stopped()[0].number, 2U);
  EXPECT_EQ(sm_.stopped()[1].number, 1U);
  run(2000);
  ASSERT_EQ(sm_.finished().size(), 1U);
  EXPECT_EQ(sm_.finished()[0].number, 0U);
}

}  // namespace
}  // namespace wm::sim
