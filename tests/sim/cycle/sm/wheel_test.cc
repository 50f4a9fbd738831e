#include "sim/cycle/sm/wheel.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

TEST(Wheel, WakesInOrderOfTime) {
  Wheel wheel;
  EXPECT_EQ(wheel.first(), Wheel::kNever);
  EXPECT_EQ(wheel.sleep(0b101, 0, 110, 100), 110U);
  wheel.sleep(0b010, 0, 104, 100);
  EXPECT_EQ(wheel.first(), 104U);
  EXPECT_EQ(wheel.take(), 0b010U);
  EXPECT_EQ(wheel.first(), 110U);
  EXPECT_EQ(wheel.take(), 0b101U);
  EXPECT_EQ(wheel.first(), Wheel::kNever);
}

TEST(Wheel, FindsTheNextTimeAcrossItsEnd) {
  for (std::uint64_t now = 1000; now < 1600; now += 7)
    for (std::uint64_t ahead = 1; ahead + 1 < Wheel::kBuckets; ahead += 5) {
      Wheel wheel;
      wheel.sleep(1, 2, now + ahead, now);
      wheel.sleep(2, 3, now + Wheel::kBuckets - 1, now);
      ASSERT_EQ(wheel.first(), now + ahead) << now << " " << ahead;
      wheel.take();
      ASSERT_EQ(wheel.first(), now + Wheel::kBuckets - 1) << now << " " << ahead;
    }
}

TEST(Wheel, TellsKindsApart) {
  Wheel wheel;
  wheel.sleep(0b001, 5, 70, 60);
  wheel.sleep(0b010, 1, 65, 60);
  wheel.sleep(0b100, 5, 65, 60);
  EXPECT_EQ(wheel.first(1), 65U);
  EXPECT_EQ(wheel.first(5), 65U);
  EXPECT_EQ(wheel.first(0), Wheel::kNever);
  EXPECT_EQ(wheel.take(), 0b110U);
  EXPECT_EQ(wheel.first(1), Wheel::kNever);
  EXPECT_EQ(wheel.first(5), 70U);
}

TEST(Wheel, CutsWhatLiesBeyondItsReach) {
  Wheel wheel;
  EXPECT_EQ(wheel.sleep(1, 0, 5000, 100), 100U + Wheel::kBuckets - 1);
}

TEST(Wheel, AForgottenWarpDoesNotWake) {
  Wheel wheel;
  wheel.sleep(0b11, 0, 50, 40);
  wheel.forget(0b01);
  EXPECT_EQ(wheel.take(), 0b10U);
}

TEST(Wheel, LeavesOneKindOutOfTheOthers) {
  Wheel wheel;
  EXPECT_EQ(wheel.first_but_apart(), Wheel::kNever);
  wheel.sleep(0b001, Wheel::kApart, 62, 60);
  EXPECT_EQ(wheel.first_but_apart(), Wheel::kNever);
  wheel.sleep(0b010, 1, 75, 60);
  wheel.sleep(0b100, 0, 70, 60);
  EXPECT_EQ(wheel.first_but_apart(), 70U);
  wheel.take();
  wheel.take();
  EXPECT_EQ(wheel.first_but_apart(), 75U);
  wheel.take();
  EXPECT_EQ(wheel.first_but_apart(), Wheel::kNever);
}

TEST(Wheel, TakesOnlyWhoseTimeHasCome) {
  Wheel wheel;
  EXPECT_EQ(wheel.take_by(1000), 0U);
  EXPECT_EQ(wheel.first(), Wheel::kNever);
  wheel.sleep(0b01, 0, 110, 100);
  wheel.sleep(0b10, 0, 112, 100);
  EXPECT_EQ(wheel.take_by(109), 0U);
  EXPECT_EQ(wheel.first(), 110U);
  EXPECT_EQ(wheel.take_by(112), 0b01U);
  EXPECT_EQ(wheel.first(), 112U);
  EXPECT_EQ(wheel.take_by(112), 0b10U);
  EXPECT_EQ(wheel.first(), Wheel::kNever);
}

}  // namespace
}  // namespace wm::sim
