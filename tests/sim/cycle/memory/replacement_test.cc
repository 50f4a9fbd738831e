// Cache replacement: which line of a full set goes.
#include <gtest/gtest.h>

#include "components/names.h"
#include "sim/cycle/memory/tags.h"

namespace wm::sim {
namespace {

Tags set_of_four(std::string_view rule) { return Tags({.sets = 1, .ways = 4, .replacement = std::string(rule)}); }

TEST(Lru, EvictsTheLineWhoseLastUseIsLongestAgo) {
  Tags tags = set_of_four("lru");
  for (LineAddress line = 1; line <= 4; ++line) tags.fill(line, 1, false);
  tags.lookup(1, 1);
  EXPECT_EQ(tags.fill(5, 1, false).line, 2U);
}

TEST(Srrip, ALineThatWasUsedOutlivesAScan) {
  Tags tags = set_of_four("srrip");
  for (LineAddress line = 1; line <= 4; ++line) tags.fill(line, 1, false);
  tags.lookup(1, 1);
  // Under LRU the fourth line of a scan would evict line 1.
  for (LineAddress line = 10; line < 16; ++line) EXPECT_NE(tags.fill(line, 1, false).line, 1U) << line;
  EXPECT_EQ(tags.peek(1, 1), 1U);
}

TEST(Srrip, EvictsTheFirstOfTheLinesWithTheLongestInterval) {
  Tags tags = set_of_four("srrip");
  for (LineAddress line = 1; line <= 4; ++line) tags.fill(line, 1, false);
  EXPECT_EQ(tags.fill(5, 1, false).line, 1U);
  EXPECT_EQ(tags.fill(6, 1, false).line, 2U) << "line 5 entered with a shorter interval than those that aged";
}

// The promises of every rule, those found by the build later included.
TEST(ReplacementRules, FillEmptyLinesFirstAndNeverEvictWhatWasJustFilled) {
  for (const std::string_view name : components::kReplacementRules) {
    Tags tags = set_of_four(name);
    for (LineAddress line = 1; line <= 4; ++line) EXPECT_EQ(tags.fill(line, 1, true).dirty, 0U) << name;
    for (LineAddress line = 10; line < 40; ++line) {
      const LineAddress evicted = tags.fill(line, 1, false).line;
      EXPECT_NE(evicted, 0U) << name;
      EXPECT_EQ(tags.peek(line, 1), 1U) << name;
      EXPECT_EQ(tags.peek(evicted, 1), 0U) << name;
    }
  }
}

}  // namespace
}  // namespace wm::sim
