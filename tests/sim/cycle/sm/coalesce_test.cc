#include "sim/cycle/sm/coalesce.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <utility>

#include "base/random.h"

namespace wm::sim {
namespace {

exec::Access strided(std::uint64_t base, std::uint64_t stride, std::uint8_t bytes, exec::Mask lanes = exec::kAllLanes) {
  exec::Access a;
  a.bytes = bytes;
  a.lanes = lanes;
  for (std::size_t i = 0; i < exec::kLanes; ++i) a.address[i] = base + i * stride;
  return a;
}

std::uint32_t sectors(const Coalesced& c) {
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < c.count; ++i) n += static_cast<std::uint32_t>(__builtin_popcount(c.lines[i].sectors));
  return n;
}

TEST(Coalesce, ConsecutiveWordsAreOneLineOfFourSectors) {
  Coalesced c;
  coalesce(strided(0x1000, 4, 4), 0, c);
  EXPECT_EQ(c.count, 1U);
  EXPECT_EQ(sectors(c), 4U);
}

TEST(Coalesce, AMisalignedStreamTouchesOneSectorMore) {
  Coalesced c;
  coalesce(strided(0x1010, 4, 4), 0, c);
  EXPECT_EQ(c.count, 2U);
  EXPECT_EQ(sectors(c), 5U);
}

TEST(Coalesce, VectorsOf16BytesAreFourLines) {
  Coalesced c;
  coalesce(strided(0x1000, 16, 16), 0, c);
  EXPECT_EQ(c.count, 4U);
  EXPECT_EQ(sectors(c), 16U);
}

TEST(Coalesce, AStrideOfALineIsALineALane) {
  Coalesced c;
  coalesce(strided(0x1000, 128, 4), 0, c);
  EXPECT_EQ(c.count, 32U);
  EXPECT_EQ(sectors(c), 32U);
}

TEST(Coalesce, OneAddressForAllLanesIsOneSector) {
  Coalesced c;
  coalesce(strided(0x1234, 0, 4), 0, c);
  EXPECT_EQ(c.count, 1U);
  EXPECT_EQ(sectors(c), 1U);
}

TEST(Coalesce, LanesThatAreOffTouchNothing) {
  Coalesced c;
  coalesce(strided(0x1000, 128, 4, 0x5), 0, c);
  EXPECT_EQ(c.count, 2U);
}

TEST(SharedCycles, TheDegreeOfConflictIsTheStride) {
  EXPECT_EQ(shared_cycles(strided(0, 4, 4), 32), 1U);
  EXPECT_EQ(shared_cycles(strided(0, 8, 4), 32), 2U);
  EXPECT_EQ(shared_cycles(strided(0, 16, 4), 32), 4U);
  EXPECT_EQ(shared_cycles(strided(0, 128, 4), 32), 32U);
  EXPECT_EQ(shared_cycles(strided(0, 132, 4), 32), 1U) << "an odd stride in words has no conflict";
}

TEST(SharedCycles, LanesThatShareAWordTakeItsBankOnce) {
  exec::Access pairs = strided(0, 0, 4);
  for (std::size_t i = 0; i < exec::kLanes; ++i) pairs.address[i] = i / 2 * 128;
  EXPECT_EQ(shared_cycles(pairs, 32), 16U) << "16 words of one bank, each wanted by two lanes";
  exec::Access two = strided(0, 0, 4);
  for (std::size_t i = 0; i < exec::kLanes; ++i) two.address[i] = i % 2 * 128;
  EXPECT_EQ(shared_cycles(two, 32), 2U) << "two words of one bank, each wanted by 16 lanes";
  exec::Access apart = strided(0, 0, 4);
  for (std::size_t i = 0; i < exec::kLanes; ++i) apart.address[i] = i % 4 * 132;
  EXPECT_EQ(shared_cycles(apart, 32), 1U) << "four words of four banks";
}

TEST(SharedCycles, ABroadcastIsFree) { EXPECT_EQ(shared_cycles(strided(64, 0, 4), 32), 1U); }

TEST(SharedCycles, WideAccessesTakeTheirParts) {
  EXPECT_EQ(shared_cycles(strided(0, 8, 8), 32), 2U);
  EXPECT_EQ(shared_cycles(strided(0, 16, 16), 32), 4U);
}

TEST(SharedCycles, PairsOfLanesAtOneAddressHalveAWideAccess) {
  exec::Access quads = strided(0, 0, 16);
  EXPECT_EQ(shared_cycles(quads, 32), 4U);
  EXPECT_EQ(shared_cycles(quads, 32 | kJoinsPairs), 2U);
  quads.address[1] = 64;
  EXPECT_EQ(shared_cycles(quads, 32 | kJoinsPairs), 4U) << "lanes 0 and 1 differ";
}

TEST(SharedTurns, LanesOfOneWordAndOfOneBankTakeTurns) {
  EXPECT_EQ(shared_turns(strided(0, 4, 4), 32), 1U);
  EXPECT_EQ(shared_turns(strided(0, 0, 4), 32), 32U);
  EXPECT_EQ(shared_turns(strided(0, 8, 4), 32), 2U);
}

TEST(LanesOnOneWord, AreCountedByAddressAndNotByBank) {
  EXPECT_EQ(lanes_on_one_word(strided(0, 128, 4)), 1U) << "one bank, different words";
  EXPECT_EQ(lanes_on_one_word(strided(64, 0, 4)), 32U);
  exec::Access access = strided(0, 4, 4);
  for (const std::size_t lane : {3U, 9U, 31U}) access.address[lane] = 40;  // where lane 10 is
  EXPECT_EQ(lanes_on_one_word(access), 4U);
  access.lanes &= ~exec::Mask{1U << 9U};
  EXPECT_EQ(lanes_on_one_word(access), 3U) << "an idle lane does not count";
}

// Accesses of many shapes: strides, groups of consecutive lanes, words that lanes share, idle lanes, any alignment.
exec::Access any_access(Random& random) {
  const auto bytes = static_cast<std::uint8_t>(1U << random.below(5));
  exec::Access a = strided(random.below(4096), std::uint64_t{random.below(5)} * bytes, bytes);
  if (random.below(2) == 0) a.lanes = random.below(0xffffffffU);
  if (random.below(3) == 0)
    for (std::uint64_t& address : a.address) address = std::uint64_t{random.below(64)} * bytes;
  if (random.below(3) == 0)
    for (std::size_t i = 8; i < exec::kLanes; ++i) a.address[i] = a.address[i % 8] + i / 8 * random.below(9) * 64;
  if (random.below(3) == 0)
    for (std::size_t i = 0; i < exec::kLanes; i += 2) a.address[i + 1] = a.address[i];
  return a;
}

// The sectors of each line that the lanes touch, byte by byte.
std::map<std::uint64_t, std::uint32_t> sectors_touched(const exec::Access& a) {
  std::map<std::uint64_t, std::uint32_t> lines;
  for (std::size_t lane = 0; lane < exec::kLanes; ++lane)
    for (std::uint64_t byte = 0; byte < a.bytes && (a.lanes >> lane & 1) != 0; ++byte)
      lines[(a.address[lane] + byte) / 128] |= 1U << (a.address[lane] + byte) % 128 / 32;
  return lines;
}

TEST(Coalesce, TouchesTheSectorsOfEveryByteAndEachLineOnce) {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const exec::Access a = any_access(random);
    Coalesced c;
    coalesce(a, std::uint64_t{1} << 48, c);
    std::map<std::uint64_t, std::uint32_t> got;
    std::uint32_t lanes = 0;
    for (std::uint32_t l = 0; l < c.count; ++l) {
      EXPECT_TRUE(got.emplace(c.lines[l].line - (std::uint64_t{1} << 48), c.lines[l].sectors).second);
      lanes += c.lines[l].lanes;
    }
    ASSERT_EQ(got, sectors_touched(a)) << "access " << i;
    EXPECT_GE(lanes, static_cast<std::uint32_t>(__builtin_popcount(a.lanes))) << "access " << i;
  }
}

// The most distinct words of a bank, part by part.
std::uint32_t cycles_by_bank(const exec::Access& a, std::uint32_t banks, std::uint32_t parts) {
  std::uint32_t total = 0;
  const std::uint32_t words = std::max(1, a.bytes / 4);
  for (std::uint32_t part = 0; part < parts; ++part) {
    std::map<std::uint64_t, std::set<std::uint64_t>> of_bank;
    std::size_t worst = 0;
    for (std::uint32_t lane = 32 / parts * part; lane < 32 / parts * (part + 1); ++lane)
      for (std::uint32_t w = 0; w < words && (a.lanes >> lane & 1) != 0; ++w) {
        auto& wanted = of_bank[(a.address[lane] / 4 + w) % banks];
        wanted.insert(a.address[lane] / 4 + w);
        worst = std::max(worst, wanted.size());
      }
    total += static_cast<std::uint32_t>(worst);
  }
  return std::max(1U, total);
}

TEST(SharedCycles, AreTheMostWordsOfABankInEveryPart) {
  Random random(4);
  for (int i = 0; i < 3000; ++i) {
    exec::Access a = any_access(random);
    for (std::uint64_t& address : a.address) address -= address % a.bytes;
    const std::uint32_t words = std::max(1, a.bytes / 4);
    bool pairs = true;
    for (std::size_t l = 0; l < 32; l += 2)
      pairs = pairs && ((a.lanes >> l & 3) != 3 || a.address[l] == a.address[l + 1]);
    for (const std::uint32_t banks : {16U, 32U}) {
      ASSERT_EQ(shared_cycles(a, banks), cycles_by_bank(a, banks, words)) << "access " << i;
      ASSERT_EQ(shared_cycles(a, banks | kJoinsPairs), cycles_by_bank(a, banks, pairs && words > 1 ? words / 2 : words))
          << "access " << i;
      std::map<std::uint64_t, std::uint32_t> lanes_of;
      std::uint32_t turns = 1;
      for (std::size_t l = 0; l < 32; ++l)
        if ((a.lanes >> l & 1) != 0) turns = std::max(turns, ++lanes_of[a.address[l] / 4 % banks]);
      ASSERT_EQ(shared_turns(a, banks), turns) << "access " << i;
    }
  }
}

}  // namespace
}  // namespace wm::sim
