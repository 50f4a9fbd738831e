// Caps of undivided launches: the shared memory of their groups, and which kernel comes first.
#include "runtime/schedule/undivided_caps.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

constexpr std::uint32_t kShared = 228U << 10;
const gpu::SmLimits kSm{.total = {2048, 65536, kShared, 32}, .warp_threads = 32, .shared_unit = 128};

CappedKernel kernel(std::uint32_t cap, std::uint32_t threads = 128, std::uint32_t shared = 1024) {
  return {cap, 1000, {threads, threads * 32, shared, 1}};
}

TEST(UndividedCaps, TheKernelWithTheSmallestCapComesFirst) {
  const auto caps = undivided_caps(std::vector{kernel(6), kernel(3), kernel(4)}, kSm);
  ASSERT_TRUE(caps);
  EXPECT_EQ((*caps)[0].priority, 0);
  EXPECT_EQ((*caps)[1].priority, 2);
  EXPECT_EQ((*caps)[2].priority, 1);
  auto few = kernel(6);
  few.groups = 100;
  EXPECT_EQ((*undivided_caps(std::vector{kernel(6), few}, kSm))[1].priority, 1) << "fewer groups";
}

TEST(UndividedCaps, KernelsKeepTheirCapsBesideEachOther) {
  for (std::uint32_t first = 1; first <= 8; ++first) {
    for (std::uint32_t second = first; second <= 8; ++second) {
      const auto caps = undivided_caps(std::vector{kernel(first), kernel(second)}, kSm);
      ASSERT_TRUE(caps) << first << " " << second;
      const std::uint32_t a = (*caps)[0].group_bytes, b = (*caps)[1].group_bytes;
      EXPECT_LE(first * a + second * b, kShared) << "both have room";
      EXPECT_GT((first + 1) * a, kShared) << "no more of the first, whatever the second has";
      EXPECT_GT(first * a + (second + 1) * b, kShared) << "no more of the second beside the first";
    }
  }
}

TEST(UndividedCaps, AKernelThatFitsNoMoreOftenThanItsCapTakesWhatItUses) {
  const auto caps = undivided_caps(std::vector{kernel(16), kernel(2)}, kSm);
  ASSERT_TRUE(caps);
  EXPECT_EQ((*caps)[0].group_bytes, 1024U) << "2,048 threads are 16 groups";
}

TEST(UndividedCaps, AKernelThatUsesMuchSharedMemoryComesFirstWhereOthersWouldLeaveItTooLittle) {
  const auto caps = undivided_caps(std::vector{kernel(2), kernel(3, 128, 30'000)}, kSm);
  ASSERT_TRUE(caps) << "the first would leave a third, which is less than 90,000 bytes";
  EXPECT_EQ((*caps)[0].priority, 0);
  EXPECT_EQ((*caps)[1].priority, 1);
  EXPECT_LE(2 * (*caps)[0].group_bytes + 3 * (*caps)[1].group_bytes, kShared);
}

TEST(UndividedCaps, ThereAreNoneWhereAKernelWouldHaveNoRoomOrLessThanItsCap) {
  EXPECT_FALSE(undivided_caps(std::vector{kernel(15), kernel(15)}, kSm)) << "a sixteenth of the shared memory is left";
  EXPECT_FALSE(undivided_caps(std::vector{kernel(2, 1024), kernel(2, 1024)}, kSm)) << "no threads are left";
}

}  // namespace
}  // namespace wm::runtime
