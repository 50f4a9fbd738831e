// An SM waits for the translation of a page that it has not used, and for no other.
#include "sim/cycle/sm/tlb.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

constexpr LineAddress kPage = 2 * 1024 * 1024 / 128;

TEST(Tlb, AnUnknownPageIsReadyExactlyAfterItsLatency) {
  Tlb tlb({.entries = 16, .page_bytes = 2 * 1024 * 1024, .latency = 100, .interval = 40}, 0, 4);
  EXPECT_EQ(tlb.translate(0, 1000), 1100U);
  EXPECT_EQ(tlb.translate(1, 1099), 1100U) << "the page is on its way";
  EXPECT_EQ(tlb.translate(1, 1101), 1101U) << "the page is known";
}

TEST(Tlb, MissesAreServedOneIntervalApart) {
  Tlb tlb({.entries = 16, .page_bytes = 2 * 1024 * 1024, .latency = 100, .interval = 40}, 0, 4);
  EXPECT_EQ(tlb.translate(0, 1000), 1100U);
  EXPECT_EQ(tlb.translate(kPage, 1000), 1140U);
  EXPECT_EQ(tlb.translate(2 * kPage, 1081), 1181U) << "the second interval is over";
}

TEST(Tlb, SmsAreServedInTheOrderOfTheirNumbers) {
  Tlb last({.entries = 16, .page_bytes = 2 * 1024 * 1024, .latency = 100, .interval = 40}, 3, 4);
  EXPECT_EQ(last.translate(0, 1000), 1130U);
}

// Pages a multiple of 128 * 16 apart belong to one of 16 sets.
TEST(Tlb, FourPagesOfASetAreKnownAndAFifthTakesThePlaceOfTheOneUsedLongestAgo) {
  Tlb tlb({.entries = 64, .page_bytes = 2 * 1024 * 1024, .latency = 100, .interval = 40}, 0, 4);
  const auto line = [](std::uint64_t i) { return i * 128 * 16 * kPage; };
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(tlb.translate(line(i), 1000 * i), 1000 * i + 100);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(tlb.translate(line(i), 5000), 5000U);
  EXPECT_EQ(tlb.translate(line(4), 6000), 6100U);
  for (std::uint64_t i = 1; i < 5; ++i) EXPECT_EQ(tlb.translate(line(i), 7000), 7000U);
  EXPECT_EQ(tlb.translate(line(0), 8000), 8100U);
}

TEST(Tlb, FirstPagesOfKernelsAndClientsBelongToDifferentSets) {
  Tlb tlb({.entries = 64, .page_bytes = 2 * 1024 * 1024, .latency = 100, .interval = 40}, 0, 4);
  for (const std::uint64_t bit : {std::uint64_t{1} << 33, std::uint64_t{1} << 56}) {
    for (std::uint64_t i = 0; i < 8; ++i) tlb.translate(i * bit, 1000 * i);
    for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(tlb.translate(i * bit, 20'000), 20'000U) << bit << ' ' << i;
  }
}

TEST(Tlb, WithoutEntriesTranslationIsFree) {
  Tlb tlb({}, 0, 4);
  EXPECT_EQ(tlb.translate(5 * kPage, 7), 7U);
}

}  // namespace
}  // namespace wm::sim
