// The index of records gives what a look through all of them would give, in the same order.
#include "lab/experiment/record_index.h"

#include <gtest/gtest.h>

#include "lab/experiment/figures.h"

namespace wm::lab {
namespace {

using Sign = Condition::Sign;

// Labels with numbers in several spellings, words, and a label that some records lack.
Table mixed_table() {
  Table t;
  for (const char* policy : {"A", "B"})
    for (const char* goal : {"0.5", "0.50", "1", "none"})
      for (const char* seed : {"1", "2"})
        t.add({{"policy", policy}, {"goal", goal}, {"seed", seed}}, policy[0] + goal[0], 1, 1);
  t.add({{"policy", "B"}, {"seed", "3"}}, 7, 1, 1);
  t.add({{"policy", "nan"}, {"seed", "3"}}, 8, 1, 1);
  return t;
}

TEST(RecordIndex, SelectsWhatALookThroughAllRecordsSelects) {
  const Table table = mixed_table();
  const Records& records = table.records();
  const RecordIndex index(records);
  const std::vector<Condition> conditions{
      {"policy", Sign::equal, "A"},  {"policy", Sign::unequal, "A"}, {"policy", Sign::equal, "nan"},
      {"goal", Sign::equal, "0.5"},  {"goal", Sign::equal, "none"},  {"goal", Sign::less, "1"},
      {"seed", Sign::equal, "2"},    {"seed", Sign::equal, "2.0"},   {"seed", Sign::equal, "9"},
      {"ipc", Sign::greater, "100"}, {"ipc", Sign::equal, "7"},      {"missing", Sign::equal, "x"},
  };
  for (const Condition& a : conditions)
    for (const Condition& b : conditions) {
      std::vector<const Record*> expected;
      for (const Record& r : records)
        if (a.holds(r) && b.holds(r)) expected.push_back(&r);
      EXPECT_EQ(index.select({a}, {b}), expected) << a.what << " " << a.value << ", " << b.what << " " << b.value;
    }
  EXPECT_EQ(index.select({}, {}).size(), records.size());
}

TEST(RecordIndex, AllSpellingsOfANumberAreEqual) {
  const Table table = mixed_table();
  const Records& records = table.records();
  EXPECT_EQ(RecordIndex(records).select({{"seed", Sign::equal, "2.0"}}, {}).size(), 8U);
}

TEST(RecordIndex, PartnersHaveTheSameLabelsUnderAnotherPolicy) {
  const Table table = mixed_table();
  const Records& records = table.records();
  const RecordIndex index(records);
  const Record* partner = index.partner(records[0], "B");
  ASSERT_NE(partner, nullptr);
  EXPECT_EQ(partner->labels.at("goal"), "0.5");
  EXPECT_EQ(partner->labels.at("seed"), "1");
  EXPECT_EQ(index.partner(records[0], "C"), nullptr);
}

TEST(RecordIndex, ListsSeedsAndSortedNumbers) {
  const Table table = mixed_table();
  const Records& records = table.records();
  const RecordIndex index(records);
  EXPECT_EQ(index.seeds(), (std::set<std::string>{"1", "2", "3"}));
  EXPECT_EQ(index.values("policy"), (std::vector<std::string>{"A", "B", "nan"}));
  EXPECT_EQ(index.values("seed"), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_TRUE(index.values("missing").empty());
}

}  // namespace
}  // namespace wm::lab
