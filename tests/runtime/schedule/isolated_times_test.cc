// Isolated times of launches: which launches give one, and what corrects it.
#include "runtime/schedule/isolated_times.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

constexpr IsolatedTimes::Key kKey{1, 64};

TEST(IsolatedTimes, AFirstLaunchThatLoadedItsCodeIsReplacedByAMuchShorterOne) {
  IsolatedTimes times;
  EXPECT_FALSE(times.find(kKey).has_value());
  times.note(kKey, 50e6);
  EXPECT_EQ(times.find(kKey), 50e6);
  times.note(kKey, 20e6);
  EXPECT_EQ(times.find(kKey), 20e6);
  times.note(kKey, 24e6);
  EXPECT_EQ(times.find(kKey), 21e6);
}

TEST(IsolatedTimes, ALaunchBesideOthersBoundsTheIsolatedTime) {
  IsolatedTimes times;
  times.limit(kKey, 30e6);
  EXPECT_FALSE(times.find(kKey).has_value());
  times.note(kKey, 50e6);
  times.limit(kKey, 80e6);
  EXPECT_EQ(times.find(kKey), 50e6);
  times.limit(kKey, 30e6);
  EXPECT_EQ(times.find(kKey), 30e6);
}

// Completions of short launches are observed several at once.
TEST(IsolatedTimes, ShortLaunchesCountBySixteens) {
  IsolatedTimes times;
  for (int i = 0; i < 15; ++i) times.note(kKey, 20e3);
  EXPECT_FALSE(times.find(kKey).has_value());
  times.note(kKey, 20e3);
  EXPECT_EQ(times.find(kKey), 20e3);
  times.limit(kKey, 1e3);
  EXPECT_EQ(times.find(kKey), 20e3);
}

TEST(IsolatedTimes, OfAtMost256LaunchesAreKept) {
  IsolatedTimes times;
  for (std::uint32_t i = 0; i < 256; ++i) times.note({i, 64}, 1e6);
  times.note({0, 64}, 1e6);
  EXPECT_TRUE(times.find({255, 64}).has_value()) << "one that is known needs no room";
  times.note({256, 64}, 1e6);
  EXPECT_FALSE(times.find({255, 64}).has_value());
  EXPECT_TRUE(times.find({256, 64}).has_value());
}

}  // namespace
}  // namespace wm::runtime
