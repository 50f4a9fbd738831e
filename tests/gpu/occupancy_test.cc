#include "gpu/occupancy.h"

#include <gtest/gtest.h>

namespace wm::gpu {
namespace {

// An SM of the H200: 256 registers to a warp at a time, shared memory in units of 128 bytes.
constexpr SmLimits kH200 = {{.threads = 2048, .registers = 65536, .shared_bytes = 233472, .blocks = 32}, 32, 256, 128};

TEST(Occupancy, TheFirstResourceToRunOutIsTheLimit) {
  EXPECT_EQ(*max_blocks({256, 32, 0}, kH200), 8U);        // threads
  EXPECT_EQ(*max_blocks({256, 64, 0}, kH200), 4U);        // registers
  EXPECT_EQ(*max_blocks({256, 32, 100'000}, kH200), 2U);  // shared memory
  EXPECT_EQ(*max_blocks({32, 16, 0}, kH200), 32U);        // slots
}

TEST(Occupancy, AllocationUnitsCount) {
  // 33 registers x 32 threads = 1056, in units of 256: 1280 a warp, 10240 for 8 warps.
  EXPECT_EQ(footprint({256, 33, 1}, kH200), (Resources{256, 10240, 128, 1}));
  EXPECT_EQ(*max_blocks({256, 33, 0}, kH200), 6U);
  EXPECT_EQ(footprint({100, 16, 0}, kH200).threads, 128U);  // whole warps
}

TEST(Occupancy, ABlockTooLargeIsRefusedByName) {
  EXPECT_EQ(max_blocks({128, 32, 300'000}, kH200).error().to_string(),
            "a block needs 300032 bytes of shared memory, an SM has 233472");
  EXPECT_EQ(max_blocks({4096, 8, 0}, kH200).error().to_string(), "a block needs 4096 threads, an SM has 2048");
  EXPECT_EQ(max_blocks({1024, 128, 0}, kH200).error().to_string(), "a block needs 131072 registers, an SM has 65536");
  EXPECT_FALSE(max_blocks({0, 8, 0}, kH200).ok());
}

TEST(Occupancy, ResourcesThatBlocksLeave) {
  const Resources one = footprint({256, 32, 1024}, kH200);
  const Resources left = less(kH200.total, one, 3);
  EXPECT_EQ(left, (Resources{2048 - 768, 65536 - 3 * 8192, 233472 - 3072, 29}));
  EXPECT_EQ(fit(one, left), 5U);
  EXPECT_EQ(more(left, one, 2), less(kH200.total, one));
  EXPECT_EQ(more(less(kH200.total, one), one), kH200.total);
  EXPECT_DOUBLE_EQ(dominant_share(one, kH200.total, 2), 0.25);
}

}  // namespace
}  // namespace wm::gpu
