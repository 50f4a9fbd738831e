// The values of expressions over records, and the messages for expressions that cannot be read.
#include "lab/experiment/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/experiment/figures.h"

namespace wm::lab {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kLabels{"policy", "workload", "goal", "group"};

Table some_table() {
  Table t;
  t.add({{"policy", "A"}, {"workload", "x"}, {"goal", "0.5"}}, 100, 1.02, 0.4);
  t.add({{"policy", "A"}, {"workload", "y"}, {"goal", "0.5"}}, 400, 0.9, 0.6);
  t.add({{"policy", "B b"}, {"workload", "x"}, {"goal", "0.5"}}, 50, 1.1, 0.2);
  t.add({{"policy", "B b"}, {"workload", "y"}, {"goal", "0.95"}}, 100, 1.3, 0.1);
  return t;
}

std::optional<double> value(const std::string& text, const std::vector<Condition>& given = {}) {
  const Table table = some_table();
  const auto e = Expression::parse(text, {"f.yaml", 3}, kLabels);
  EXPECT_TRUE(e.ok()) << (e.ok() ? "" : e.error().to_string());
  return e->evaluate(RecordIndex(table.records()), given);
}

std::string mistake(const std::string& text) {
  const auto e = Expression::parse(text, {"f.yaml", 3}, kLabels);
  return e.ok() ? "" : e.error().to_string();
}

TEST(Expression, AveragesOverRecordsThatPass) {
  EXPECT_DOUBLE_EQ(*value("mean(ipc, policy=A)"), 250);
  EXPECT_DOUBLE_EQ(*value("gmean(ipc, policy=A)"), 200);
  EXPECT_DOUBLE_EQ(*value("mean(reached)"), 0.75);
  EXPECT_DOUBLE_EQ(*value("mean(others, reached=1, policy=\"B b\")"), 0.15000000000000002);
  EXPECT_DOUBLE_EQ(*value("count(ipc, goal>=0.95)"), 1);
  EXPECT_DOUBLE_EQ(*value("count(ipc, workload!=x)"), 2);
  EXPECT_DOUBLE_EQ(*value("max(shortfall)"), 1 - 0.9);
  EXPECT_DOUBLE_EQ(*value("min(ipc) + sum(ipc)"), 700);
  EXPECT_DOUBLE_EQ(*value("mean(kernels.1.normalized, policy=A, workload=y)"), 0.6);
}

TEST(Expression, PartnersDifferOnlyInPolicy) {
  // y ran under another goal with B, so it has no partner.
  EXPECT_DOUBLE_EQ(*value("gain(ipc, policy=A, against=\"B b\")"), 2);
  EXPECT_DOUBLE_EQ(*value("delta(others, policy=A, against=\"B b\")"), 0.2);
  EXPECT_DOUBLE_EQ(*value("ratio(ipc, policy=A, against=\"B b\")"), 2);
  EXPECT_DOUBLE_EQ(*value("below(ipc, policy=A, against=\"B b\")"), 0);
  EXPECT_DOUBLE_EQ(*value("below(ipc, policy=\"B b\", against=A)"), 1);
}

TEST(Expression, ArithmeticBindsAsUsual) {
  EXPECT_DOUBLE_EQ(*value("2 + 3 * 4 - 6 / 2"), 11);
  EXPECT_DOUBLE_EQ(*value("(2 + 3) * 4"), 20);
  EXPECT_DOUBLE_EQ(*value("(1 < 2) + (2 <= 2) + (3 > 4) + (4 >= 4)"), 3);
}

TEST(Expression, NothingComesOfNoRecords) {
  EXPECT_EQ(value("mean(ipc, policy=nobody)"), std::nullopt);
  EXPECT_EQ(value("mean(ipc) / count(ipc, policy=nobody)"), std::nullopt);
  EXPECT_DOUBLE_EQ(*value("count(ipc, policy=nobody)"), 0);
}

TEST(Expression, ConditionsGivenFromOutsideNarrowItButNotItsPartners) {
  const std::vector<Condition> only_a{{"policy", Condition::Sign::equal, "A"}};
  EXPECT_DOUBLE_EQ(*value("mean(ipc)", only_a), 250);
  EXPECT_DOUBLE_EQ(*value("gain(ipc, against=\"B b\")", only_a), 2);
}

TEST(Expression, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(mistake("men(ipc)"), HasSubstr("f.yaml:3: unknown function 'men' (did you mean 'mean'?) in 'men(ipc)'"));
  EXPECT_THAT(mistake("mean(ipx)"), HasSubstr("unknown measure 'ipx' (did you mean 'ipc'?)"));
  EXPECT_THAT(mistake("mean(ipc, polcy=A)"), HasSubstr("unknown label 'polcy' (did you mean 'policy'?)"));
  EXPECT_THAT(mistake("mean(ipc"), HasSubstr("',' or ')' expected"));
  EXPECT_THAT(mistake("mean(ipc) mean"), HasSubstr("cannot read 'mean'"));
  EXPECT_THAT(mistake("gain(ipc)"), HasSubstr("gain needs against=POLICY"));
  EXPECT_THAT(mistake("mean(ipc, against=A)"), HasSubstr("'against' is for gain and delta"));
  EXPECT_THAT(mistake("1 +"), HasSubstr("a number, a function or '(' expected"));
  EXPECT_THAT(mistake("mean(ipc, policy)"), HasSubstr("a comparison expected behind 'policy'"));
}

}  // namespace
}  // namespace wm::lab
