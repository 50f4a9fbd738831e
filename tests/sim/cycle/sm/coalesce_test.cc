#include "sim/cycle/sm/coalesce.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace wm::sim
