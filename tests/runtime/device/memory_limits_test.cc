// The limits on the device memory that clients may allocate.
#include <future>
#include <gtest/gtest.h>

#include "runtime/device/memory.h"

namespace wm::runtime {
namespace {

TEST(MemoryLimits, ABufferLargerThanTheDeviceIsNotCountedWithoutALimit) {
  const MemoryLimits unlimited(1000, 1000, false, true), limited(1000, 1000, false);
  EXPECT_TRUE(unlimited.exceeds_device(1001));
  EXPECT_FALSE(unlimited.exceeds_device(1000));
  EXPECT_FALSE(limited.exceeds_device(1001));
}

TEST(MemoryLimits, AClientGetsAtMostItsShareAndAllClientsTheTotal) {
  MemoryLimits limits(1000, 600, false);
  MemoryLimits::Share first, second;
  EXPECT_FALSE(limits.allocate(first, 601));
  EXPECT_TRUE(limits.allocate(first, 600));
  EXPECT_FALSE(limits.allocate(first, 1));
  EXPECT_FALSE(limits.allocate(second, 401));
  EXPECT_TRUE(limits.allocate(second, 400));
  EXPECT_EQ(limits.available(), 0U);
  limits.free(first, 600);
  EXPECT_EQ(limits.available(), 600U);
  EXPECT_EQ(first.bytes, 0U);
  EXPECT_TRUE(limits.allocate(second, 200));
}

TEST(MemoryLimits, AnAllocationWaitsUntilAnotherClientFrees) {
  MemoryLimits limits(1000, 1000, true);
  MemoryLimits::Share first, second;
  ASSERT_TRUE(limits.allocate(first, 1000));
  EXPECT_TRUE(limits.must_wait(1));
  auto waiting = std::async(std::launch::async, [&] { return limits.allocate(second, 500); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  limits.free(first, 1000);
  EXPECT_TRUE(waiting.get());
}

TEST(MemoryLimits, AClientDoesNotWaitForItselfOrAfterItHasGone) {
  MemoryLimits limits(1000, 1000, true);
  MemoryLimits::Share only;
  ASSERT_TRUE(limits.allocate(only, 600));
  EXPECT_FALSE(limits.allocate(only, 401)) << "its own memory is all that is used";
  MemoryLimits::Share other;
  auto waiting = std::async(std::launch::async, [&] { return limits.allocate(other, 500); });
  other.closed = true;
  limits.wake();
  EXPECT_FALSE(waiting.get());
}

TEST(Memory, IsFreedInTheLimitsAndThenTellsItsClient) {
  MemoryLimits limits(1000, 1000, false);
  const auto share = std::make_shared<MemoryLimits::Share>();
  ASSERT_TRUE(limits.allocate(*share, 300));
  std::uint64_t used_at_notice = 1;
  {
    Memory memory;
    memory.share = share;
    memory.limits = &limits;
    memory.bytes = 300;
    memory.release_notice = {nullptr, [&](std::nullptr_t) { used_at_notice = share->bytes; }};
  }
  EXPECT_EQ(used_at_notice, 0U);
}

}  // namespace
}  // namespace wm::runtime
