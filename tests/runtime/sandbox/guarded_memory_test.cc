// Memory whose neighbours may not be accessed.
#include "runtime/sandbox/guarded_memory.h"

#include <csignal>
#include <gtest/gtest.h>
#include <utility>

namespace wm::runtime::sandbox {
namespace {

TEST(GuardedMemory, IsZeroAndSuitsEveryType) {
  for (const std::uint64_t size : {1U, 4U, 128U, 4095U, 4096U, 100'001U}) {
    const GuardedMemory memory(size);
    ASSERT_TRUE(memory.ok());
    ASSERT_EQ(memory.bytes().size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 128, 0U);
    for (std::byte& b : memory.bytes()) ASSERT_EQ(std::exchange(b, std::byte{1}), std::byte{});
  }
}

TEST(GuardedMemoryDeathTest, EndsAProcessThatLeavesIt) {
  const GuardedMemory memory(4096);
  ASSERT_TRUE(memory.ok());
  volatile std::byte* const at = memory.bytes().data();
  for (const std::ptrdiff_t outside : {std::ptrdiff_t{4096}, std::ptrdiff_t{-1}, std::ptrdiff_t{4} * 0x7fffffff,
                                       std::ptrdiff_t{-8} * 0x7fffffff, std::ptrdiff_t{4} * 0xffffffff})
    EXPECT_DEATH(at[outside] = std::byte{1}, "") << outside;
}

}  // namespace
}  // namespace wm::runtime::sandbox
