#include "base/units.h"

#include <gtest/gtest.h>

namespace wm {
namespace {

TEST(Units, MemoryIsCountedInPowersOf1024) {
  EXPECT_EQ(parse_bytes("7 B")->count, 7U);
  EXPECT_EQ(parse_bytes("256 KB")->count, 256U * 1024);
  EXPECT_EQ(parse_bytes("1.5MiB")->count, 1536U * 1024);
}

TEST(Units, DecimalsAreExact) {
  EXPECT_EQ(parse_hertz("1.38 GHz")->count, 1'380'000'000U);
  EXPECT_EQ(parse_picoseconds("0.5 ns")->count, 500U);
  EXPECT_EQ(parse_hertz("1.0000000001 GHz").error().what, "'1.0000000001' does not come to a whole number");
}

TEST(Units, ANumberWithoutAUnitIsRefused) {
  EXPECT_EQ(parse_bytes("256").error().what, "'256' lacks a unit (B, KB, MB, GB, KiB, MiB, GiB)");
}

TEST(Units, TextThatIsNoQuantityIsNamed) {
  EXPECT_EQ(parse_hertz("fast").error().what, "'fast' is no quantity such as '1216 MHz'");
  EXPECT_EQ(parse_hertz("1..5 GHz").error().what, "'1..5 GHz' is no quantity such as '1216 MHz'");
  EXPECT_EQ(parse_hertz("3 KB").error().what, "unknown unit 'KB' in '3 KB' (Hz, kHz, MHz, GHz)");
}

TEST(Units, OverflowIsAnErrorNotAWrap) {
  EXPECT_EQ(parse_bytes("99999999999 GB").error().what, "'99999999999' is too large");
  EXPECT_EQ(parse_bytes("99999999999999999999 B").error().what, "'99999999999999999999' is too large");
}

TEST(Units, QuantitiesAddAndCompareWithinTheirUnit) {
  EXPECT_EQ(Cycles{3} + Cycles{4}, Cycles{7});
  EXPECT_LT(Bytes{3}, Bytes{4});
  EXPECT_EQ(Bytes{96} / Bytes{32}, 3U);
}

}  // namespace
}  // namespace wm
