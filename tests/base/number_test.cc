#include "base/number.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace wm {
namespace {

TEST(ParseInteger, TakesDecimalAndHexadecimal) {
  EXPECT_EQ(parse_integer<std::uint32_t>("42"), 42U);
  EXPECT_EQ(parse_integer<std::uint32_t>("0xffffffff"), 0xffffffffU);
  EXPECT_EQ(parse_integer<std::int32_t>("-0x10"), -16);
}

TEST(ParseInteger, TakesTheEdgesAndNothingPast) {
  EXPECT_EQ(parse_integer<std::int8_t>("-128"), -128);
  EXPECT_EQ(parse_integer<std::int8_t>("127"), 127);
  EXPECT_FALSE(parse_integer<std::int8_t>("128"));
  EXPECT_FALSE(parse_integer<std::int8_t>("-129"));
  EXPECT_EQ(parse_integer<std::uint8_t>("255"), 255);
  EXPECT_FALSE(parse_integer<std::uint8_t>("256"));
  EXPECT_EQ(parse_integer<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(parse_integer<std::int64_t>("9223372036854775808"));
  EXPECT_EQ(parse_integer<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(parse_integer<std::uint64_t>("18446744073709551616"));
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  for (const char* text : {"", " 1", "1 ", "1x", "0x", "-", "--1", "1.0", "+1"}) {
    EXPECT_FALSE(parse_integer<std::int32_t>(text)) << text;
  }
  EXPECT_FALSE(parse_integer<std::uint32_t>("-1"));
  EXPECT_EQ(parse_integer<std::int32_t>("-0"), 0);
}

TEST(ParseDouble, TakesWhatPeopleWrite) {
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("-2e-3"), -2e-3);
  EXPECT_EQ(parse_double("0x1p-3"), 0.125);
  EXPECT_EQ(parse_double("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_double("nan").value_or(0)));
}

TEST(ParseDouble, RefusesTheRest) {
  for (const char* text : {"", "-", "--1", "1.5f", "one", " 1", "0x"}) EXPECT_FALSE(parse_double(text)) << text;
}

}  // namespace
}  // namespace wm
