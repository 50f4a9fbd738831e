#include "sim/cycle/alarms.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

std::vector<std::uint64_t> tags(const std::vector<Alarms::Alarm>& alarms) {
  std::vector<std::uint64_t> list;
  for (const Alarms::Alarm& a : alarms) list.push_back(a.tag);
  return list;
}

TEST(Alarms, AreDueInTheOrderOfTheirTimesAndThenOfTheirRequests) {
  Alarms alarms;
  alarms.add(30, 1);
  alarms.add(10, 2);
  alarms.add(20, 3);
  alarms.add(10, 4);
  EXPECT_EQ(alarms.next(), 10U);
  EXPECT_EQ(tags(alarms.take_due(30)), (std::vector<std::uint64_t>{2, 4, 3, 1}));
  EXPECT_EQ(alarms.next(), ~std::uint64_t{0});
}

TEST(Alarms, LaterOnesStay) {
  Alarms alarms;
  alarms.add(11, 1);
  alarms.add(10, 2);
  EXPECT_TRUE(alarms.take_due(9).empty());
  EXPECT_EQ(tags(alarms.take_due(10)), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(alarms.next(), 11U);
  EXPECT_EQ(tags(alarms.take_due(11)), (std::vector<std::uint64_t>{1}));
}

}  // namespace
}  // namespace wm::sim
