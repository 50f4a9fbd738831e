#include "base/random.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace wm {
namespace {

TEST(Random, TheBitsAreFixedForever) {
  Random random(1234567);
  // The first outputs of SplitMix64 for this seed, as its authors publish them.
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
  EXPECT_EQ(random.next(), 9817491932198370423ULL);
}

TEST(Random, ShapesStayInTheirBounds) {
  Random random(7);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_LT(random.below(10), 10U);
    const float x = random.uniform(-1.0F, 2.0F);
    EXPECT_TRUE(x >= -1.0F && x <= 2.0F);
    const double u = random.unit();
    EXPECT_TRUE(u >= 0 && u < 1);
  }
}

TEST(Error, OneLineWithThePartsThatAreKnown) {
  EXPECT_EQ((Error{"bad"}.to_string()), "bad");
  EXPECT_EQ((Error{"bad", {"a.ptx", 3, 7}}.to_string()), "a.ptx:3:7: bad");
  EXPECT_EQ((Error{"bad", {"a.ptx", 3, 0}}.to_string()), "a.ptx:3: bad");
  EXPECT_EQ((Error{"bad", {"a.ptx", 0, 0}}.to_string()), "a.ptx: bad");
  EXPECT_EQ((Error{"bad", {"", 3, 7}}.to_string()), "line 3:7: bad");
}

}  // namespace
}  // namespace wm
