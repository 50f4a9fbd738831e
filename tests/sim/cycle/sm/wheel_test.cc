#include "sim/cycle/sm/wheel.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

TEST(Wheel, WakesAtItsTimeAndNotBefore) {
  Wheel wheel;
  EXPECT_EQ(wheel.sleep(0b101, 110, 100), 110U);
  EXPECT_EQ(wheel.next(100), 110U);
  EXPECT_EQ(wheel.take(109), 0U);
  EXPECT_EQ(wheel.take(110), 0b101U);
  EXPECT_EQ(wheel.next(110), ~std::uint64_t{0});
}

TEST(Wheel, FindsTheNextTimeAcrossItsEnd) {
  for (std::uint64_t now = 1000; now < 1600; now += 7)
    for (std::uint64_t ahead = 1; ahead < Wheel::kSlots; ahead += 5) {
      Wheel wheel;
      wheel.sleep(1, now + ahead, now);
      ASSERT_EQ(wheel.next(now), now + ahead) << now << " " << ahead;
    }
}

TEST(Wheel, CutsWhatLiesBeyondItsReach) {
  Wheel wheel;
  EXPECT_EQ(wheel.sleep(1, 5000, 100), 100U + Wheel::kSlots - 1);
}

TEST(Wheel, AForgottenWarpDoesNotWake) {
  Wheel wheel;
  wheel.sleep(0b11, 50, 40);
  wheel.forget(0b01);
  EXPECT_EQ(wheel.take(50), 0b10U);
}

}  // namespace
}  // namespace wm::sim
