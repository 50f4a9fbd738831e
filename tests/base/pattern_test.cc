#include "base/pattern.h"

#include <gtest/gtest.h>

namespace wm {

TEST(Pattern, FindsEveryMatchWithItsGroups) {
  const auto found = Pattern("([a-z]+)(=([0-9]+))?").matches("a=1, bc, d=23");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (Pattern::Match{"a=1", "a", "=1", "1"}));
  EXPECT_EQ(found[1], (Pattern::Match{"bc", "bc", "", ""}));
  EXPECT_EQ(found[2][3], "23");
}

TEST(Pattern, ReplacesGroupsAndKeepsTheRest) {
  EXPECT_EQ(Pattern(R"((\w+)\s*=\s*(\w+))").replace("x = 1; y=z;", "$2<$1>"), "1<x>; z<y>;");
  EXPECT_EQ(Pattern("b").replace("aaa", "c"), "aaa");
  EXPECT_EQ(Pattern("a").replace("", "c"), "");
}

TEST(Pattern, AWordBeginsWhereTheCharacterBeforeIsNone) {
  EXPECT_EQ(Pattern(R"(\ba)").replace("aa a ba", "-"), "-a - ba");
}

TEST(Pattern, AnEmptyMatchMovesOn) { EXPECT_EQ(Pattern("x*").replace("axb", "-"), "-a--b-"); }

TEST(Pattern, TextThatIsNoExpressionIsAnError) { EXPECT_THROW(Pattern("("), std::invalid_argument); }

}  // namespace wm
