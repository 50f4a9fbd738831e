#include "base/zeroed_array.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace wm {
namespace {

TEST(ZeroedArray, ElementsBeginWithZeroAndKeepWhatIsWritten) {
  ZeroedArray<std::uint64_t> a(1000);
  EXPECT_EQ(a.size(), 1000U);
  EXPECT_TRUE(std::all_of(a.all().begin(), a.all().end(), [](std::uint64_t v) { return v == 0; }));
  a[999] = 7;
  EXPECT_EQ(a.all().back(), 7U);
}

TEST(ZeroedArray, MovingHandsTheElementsOver) {
  ZeroedArray<int> a(10);
  a[3] = 5;
  ZeroedArray<int> b(std::move(a));
  EXPECT_EQ(b[3], 5);
  ZeroedArray<int> c;
  c = std::move(b);
  EXPECT_EQ(c[3], 5);
  EXPECT_EQ(c.size(), 10U);
}

TEST(ZeroedArray, AnEmptyOneHasNoElements) {
  ZeroedArray<int> a(0);
  EXPECT_TRUE(a.all().empty());
}

TEST(ZeroedArray, OnlyTouchedPagesAreTaken) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  ZeroedArray<char> a(std::size_t{256} << 20);
  a[100] = 1;
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 1000) << "of 65,536 pages";
}

}  // namespace
}  // namespace wm
