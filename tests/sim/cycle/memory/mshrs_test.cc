#include "sim/cycle/memory/mshrs.h"

#include <gtest/gtest.h>
#include <map>

#include "base/random.h"

namespace wm::sim {
namespace {

std::vector<Mshrs::Waiter> fill(Mshrs& m, LineAddress line, Sectors sectors) {
  std::vector<Mshrs::Waiter> woken;
  m.fill(line, sectors, [&](Mshrs::Waiter w) { woken.push_back(w); });
  return woken;
}

TEST(Mshrs, TheFirstMissSendsAndTheSecondJoins) {
  Mshrs m({.entries = 4, .waiters = 4});
  EXPECT_EQ(m.accept(10, 0x3, 1).send, 0x3);
  const Mshrs::Outcome second = m.accept(10, 0x1, 2);
  EXPECT_TRUE(second.accepted);
  EXPECT_EQ(second.send, 0);
  EXPECT_EQ(fill(m, 10, 0x3), (std::vector<Mshrs::Waiter>{1, 2}));
  EXPECT_EQ(m.in_use(), 0U);
}

TEST(Mshrs, OnlyNewSectorsAreSentAndEachWaiterWaitsForItsOwn) {
  Mshrs m({.entries = 4, .waiters = 4});
  m.accept(10, 0x1, 1);
  EXPECT_EQ(m.accept(10, 0x3, 2).send, 0x2);
  EXPECT_EQ(fill(m, 10, 0x1), std::vector<Mshrs::Waiter>{1});
  EXPECT_EQ(fill(m, 10, 0x2), std::vector<Mshrs::Waiter>{2});
}

TEST(Mshrs, RefusesWhenEntriesOrWaitersAreTaken) {
  Mshrs m({.entries = 2, .waiters = 2});
  EXPECT_TRUE(m.accept(1, 1, 0).accepted);
  EXPECT_TRUE(m.accept(2, 1, 1).accepted);
  EXPECT_FALSE(m.accept(3, 1, 2).accepted) << "no entry left";
  EXPECT_TRUE(m.accept(1, 1, 3).accepted);
  EXPECT_FALSE(m.accept(1, 1, 4).accepted) << "no waiter left";
  fill(m, 2, 1);
  EXPECT_TRUE(m.accept(3, 1, 2).accepted);
}

// Every accepted waiter is woken exactly once, whatever the order of fills.
TEST(Mshrs, WakesEveryWaiterOnceUnderRandomTraffic) {
  Mshrs m({.entries = 16, .waiters = 4});
  Random random(7);
  std::map<LineAddress, Sectors> in_flight;
  std::map<Mshrs::Waiter, int> woken;
  std::uint32_t accepted = 0;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const LineAddress line = random.below(40);
    if (random.below(2) == 0) {
      const auto sectors = static_cast<Sectors>(1 + random.below(15));
      const Mshrs::Outcome o = m.accept(line, sectors, accepted);
      if (!o.accepted) continue;
      in_flight[line] |= o.send;
      ++accepted;
    } else if (auto it = in_flight.find(line); it != in_flight.end()) {
      const Sectors part = it->second & static_cast<Sectors>(1 + random.below(15));
      m.fill(line, part, [&](Mshrs::Waiter w) { ++woken[w]; });
      it->second &= static_cast<Sectors>(~part);
      if (it->second == 0) in_flight.erase(it);
    }
  }
  for (const auto& [line, sectors] : in_flight) m.fill(line, sectors, [&](Mshrs::Waiter w) { ++woken[w]; });
  EXPECT_EQ(m.in_use(), 0U);
  EXPECT_EQ(woken.size(), accepted);
  for (const auto& [w, times] : woken) EXPECT_EQ(times, 1) << w;
}

}  // namespace
}  // namespace wm::sim
