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

TEST(Tlb, WithoutEntriesTranslationIsFree) {
  Tlb tlb({}, 0, 4);
  EXPECT_EQ(tlb.translate(5 * kPage, 7), 7U);
}

}  // namespace
}  // namespace wm::sim
