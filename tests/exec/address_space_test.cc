#include "exec/address_space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/device_heap.h"

namespace wm::exec {
namespace {

TEST(AddressSpace, FreshMemoryIsPoison) {
  AddressSpace memory;
  const auto a = memory.allocate(16, "a");
  ASSERT_TRUE(a.ok());
  std::byte read[16];
  ASSERT_TRUE(memory.read(*a, read, 16).ok());
  for (const std::byte b : read) EXPECT_EQ(b, kPoison);
}

TEST(AddressSpace, AddressesAreAlignedAndApart) {
  AddressSpace memory;
  std::uint64_t end = 0;
  for (int i = 0; i < 200; ++i) {
    const auto a = memory.allocate(100 + i, "a");
    ASSERT_TRUE(a.ok());
    EXPECT_EQ(*a % 512, 0U);
    EXPECT_GE(*a, end + 1024) << "an access past the end must not hit the next allocation";
    end = *a + 100 + i;
  }
}

TEST(AddressSpace, OfTwoAllocationsTheNearerIsNamed) {
  AddressSpace memory;
  const std::uint64_t a = *memory.allocate(16, "a"), b = *memory.allocate(16, "b");
  const auto named = [&](std::uint64_t address) { return memory.nearest(address).substr(20, 3); };
  const std::uint64_t gap = b - (a + 16);
  EXPECT_EQ(named(a - 100), "'a'");
  EXPECT_EQ(named(a + 16), "'a'");
  EXPECT_EQ(named(a + 16 + gap / 2 - 1), "'a'") << "both are as far: the earlier";
  EXPECT_EQ(named(a + 16 + gap / 2), "'b'");
  EXPECT_EQ(named(b - 1), "'b'");
  EXPECT_EQ(named(b + 1000), "'b'");
}

// An allocation of whole pages takes no more than these and the one that stays unmapped behind it.
TEST(AddressSpace, AnAllocationTakesThePagesOfItsBytes) {
  for (const auto& [bytes, pages] : {std::pair{65536U, 1U}, {65537U, 2U}, {1U, 1U}, {0U, 1U}}) {
    AddressSpace memory;
    const std::uint64_t a = *memory.allocate(bytes, "a"), b = *memory.allocate(1, "b");
    EXPECT_EQ((b - a) >> 16, pages + 1) << bytes;
  }
}

TEST(AddressSpace, AGivenAddressIsAlignedAndBehindTheOthers) {
  AddressSpace memory;
  const std::uint64_t a = *memory.allocate(16, "a");
  const auto at = [&](std::uint64_t address) {
    return memory.allocate_at(address, 16, "b",
                              [](std::uint64_t, std::uint64_t bytes) { return HostBytes(new std::byte[bytes]); });
  };
  const std::uint64_t behind = (a & ~0xffffULL) + 0x20000;  // A page stays free in between.
  EXPECT_FALSE(at(behind - 512).ok());
  EXPECT_FALSE(at(behind + 8).ok());
  EXPECT_FALSE(at(kGlobalEnd).ok());
  ASSERT_TRUE(at(behind + 512).ok());
  EXPECT_NE(memory.at(behind + 512, 16), nullptr);
  EXPECT_EQ(memory.at(behind, 16), nullptr);
  EXPECT_EQ(at(behind + 512).error().what,
            fmt::format("{:#x} is no address for an allocation after the others", behind + 512));
}

TEST(AddressSpace, AnAllocationEndsWhereItEnds) {
  AddressSpace memory;
  const auto a = memory.allocate(100000, "a");
  ASSERT_TRUE(a.ok());
  EXPECT_NE(memory.at(*a, 100000), nullptr);
  EXPECT_NE(memory.at(*a + 99996, 4), nullptr);
  EXPECT_EQ(memory.at(*a + 99997, 4), nullptr);
  EXPECT_EQ(memory.at(*a + 100000, 1), nullptr);
  EXPECT_EQ(memory.at(*a - 1, 1), nullptr);
  EXPECT_EQ(memory.at(*a, 0xffffffffffffffffULL), nullptr);
  EXPECT_EQ(memory.at(0, 4), nullptr);
  EXPECT_EQ(memory.at(0xffffffffffffffffULL, 4), nullptr);
}

TEST(AddressSpace, FreedMemoryIsGoneAndNotGivenOutAgain) {
  AddressSpace memory;
  const auto a = memory.allocate(64, "a");
  const auto b = memory.allocate(64, "b");
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(memory.free(*a).ok());
  EXPECT_EQ(memory.at(*a, 4), nullptr);
  EXPECT_NE(memory.at(*b, 4), nullptr);
  EXPECT_FALSE(memory.free(*a).ok());
  const auto c = memory.allocate(64, "c");
  ASSERT_TRUE(c.ok());
  EXPECT_NE(*c, *a);
  EXPECT_EQ(memory.allocated_bytes(), 128U);
}

TEST(AddressSpace, EveryByteOfFreedMemoryIsGone) {
  for (const std::uint64_t bytes : {1U, 0x10000U, 0x10001U, 0x20001U}) {
    AddressSpace memory;
    const auto a = memory.allocate(bytes, "a");
    ASSERT_TRUE(a.ok());
    ASSERT_NE(memory.at(*a + bytes - 1, 1), nullptr);
    ASSERT_TRUE(memory.free(*a).ok());
    for (const std::uint64_t at : {std::uint64_t{0}, bytes / 2, bytes - 1})
      EXPECT_EQ(memory.at(*a + at, 1), nullptr) << at << " of " << bytes;
  }
}

TEST(AddressSpace, OnlyTheStartOfAnAllocationIsFreed) {
  AddressSpace memory;
  const auto a = memory.allocate(64, "a");
  ASSERT_TRUE(a.ok());
  EXPECT_FALSE(memory.free(*a + 4).ok());
  EXPECT_FALSE(memory.free(*a + 4096).ok());
  EXPECT_NE(memory.at(*a, 4), nullptr);
}

// Linux on x86_64 maps memory below the stack, at a distance of up to 2^28 pages at random. A copy whose host address
// lies in the device's range fails, in one of some hundred processes if the ranges overlap by a few gibibytes.
TEST(AddressSpace, NoMappingOfAHostLiesInTheDevicesRange) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer leaves no room for that";
#endif
  constexpr std::uint64_t kStackEnd = 0x7ffffffff000, kStackRoom = std::uint64_t{32} << 30;
  constexpr std::uint64_t kRandomBytes = std::uint64_t{1} << 40, kMappings = std::uint64_t{512} << 30;
  EXPECT_LE(kGlobalEnd, kStackEnd - kStackRoom - kRandomBytes - kMappings);
}

TEST(AddressSpace, ADeviceThatIsFullSaysSo) {
  AddressSpace memory(1000);
  ASSERT_TRUE(memory.allocate(900, "a").ok());
  const auto b = memory.allocate(101, "b");
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.error().to_string(), "cannot allocate 101 bytes for 'b': 900 of 1000 bytes of device memory are in use");
}

TEST(AddressSpace, TheNearestAllocationIsNamed) {
  AddressSpace memory;
  EXPECT_EQ(memory.nearest(kGlobalBase), "nothing is allocated");
  const auto a = memory.allocate(16, "a");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(
      memory.nearest(*a + 20),
      "nearest allocation: 'a' [0x700000010000, 0x700000010010) of 16 bytes, the address is 4 bytes past its end");
  EXPECT_EQ(memory.nearest(*a - 8),
            "nearest allocation: 'a' [0x700000010000, 0x700000010010) of 16 bytes, the address is 8 bytes before it");
  EXPECT_EQ(memory.nearest(*a + 14),
            "nearest allocation: 'a' [0x700000010000, 0x700000010010) of 16 bytes, the address is 14 bytes into it");
}

TEST(AddressSpace, TwoClientsHaveTheSameAddressesAndDifferentMemory) {
  AddressSpace one, two;
  const auto a = one.allocate(4, "a");
  const auto b = two.allocate(4, "b");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(*a, *b);
  ASSERT_TRUE(one.fill(*a, std::byte{1}, 4).ok());
  ASSERT_TRUE(two.fill(*b, std::byte{2}, 4).ok());
  EXPECT_EQ(*one.at(*a, 1), std::byte{1});
  EXPECT_EQ(*two.at(*b, 1), std::byte{2});
}

TEST(AddressSpace, CopiesOutsideAreRefused) {
  AddressSpace memory;
  const auto a = memory.allocate(16, "a");
  ASSERT_TRUE(a.ok());
  std::byte data[32]{};
  EXPECT_FALSE(memory.write(*a, data, 17).ok());
  EXPECT_FALSE(memory.read(*a + 8, data, 9).ok());
  EXPECT_FALSE(memory.fill(*a + 16, std::byte{0}, 1).ok());
  EXPECT_TRUE(memory.write(*a, data, 0).ok());
}

TEST(AddressSpace, AnAliasNamesItsMemoryUntilThatIsFreed) {
  constexpr std::uint64_t kHost = 0x550000000010;
  AddressSpace memory;
  const auto a = memory.allocate(64, "a");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(memory.without_alias(kHost), kHost);
  ASSERT_TRUE(memory.add_alias(kHost, *a + 16, 48).ok());
  EXPECT_EQ(memory.without_alias(kHost), *a + 16);
  EXPECT_EQ(memory.without_alias(kHost + 47), *a + 63);
  EXPECT_EQ(memory.without_alias(kHost + 48), kHost + 48);
  EXPECT_EQ(memory.without_alias(kHost - 1), kHost - 1);
  EXPECT_FALSE(memory.add_alias(kHost + 47, *a, 1).ok()) << "addresses that are taken";
  EXPECT_FALSE(memory.add_alias(kHost + 64, *a + 16, 49).ok()) << "memory behind the allocation";
  EXPECT_FALSE(memory.add_alias(kSharedWindow - 8, *a, 16).ok()) << "addresses of shared memory";
  EXPECT_FALSE(memory.add_alias(~std::uint64_t{0} - 8, *a, 16).ok()) << "addresses that do not exist";
  ASSERT_TRUE(memory.free(*a).ok());
  EXPECT_EQ(memory.without_alias(kHost), kHost);
}

TEST(AddressSpace, AHeapThatKernelsUseIsNotReplaced) {
  AddressSpace memory;
  const auto a = memory.allocate(4096, "a"), b = memory.allocate(4096, "b");
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(memory.use_as_heap(*a, 1024).ok());
  EXPECT_EQ(memory.heap()->allocate(1040, 0, 1), 0U) << "more than an SM may have";
  ASSERT_TRUE(memory.use_as_heap(*b, 2048).ok());
  EXPECT_EQ(memory.heap()->allocate(1040, 0, 1), *b);
  EXPECT_FALSE(memory.use_as_heap(*a, 1024).ok());
  EXPECT_FALSE(memory.use_as_heap(*a + 16, 1024).ok()) << "not the start of an allocation";
  EXPECT_FALSE(memory.use_as_heap(16, 1024).ok()) << "no memory";
  ASSERT_TRUE(memory.free(*b).ok());
  EXPECT_EQ(memory.heap(), nullptr);
}

}  // namespace
}  // namespace wm::exec
