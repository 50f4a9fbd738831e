// How restrictions follow the rate of the program that they restrict.
#include "runtime/arbiter/loss_control.h"

#include <cmath>
#include <gtest/gtest.h>

#include "restricted_program.h"
#include "runtime/arbiter/make_loss_control.h"

namespace wm::runtime {
namespace {

// The rates of an H200: short slices take 80% of a compute-bound program, the driver's own 16%.
double sliced_rate(const Restriction& r) { return r.slice_microseconds == 0 ? 126 : 30; }

TEST(SliceBudget, KeepsTheLossJustBelowItsBound) {
  for (const double max_loss : {0.3, 0.5, 0.7}) {
    SliceBudget control(max_loss, 100);
    RestrictedProgram program(control, 150, sliced_rate);
    program.run(1, false);
    const double before = program.launches();
    program.run(20, true);
    const double loss = 1 - (program.launches() - before) / 20 / 150;
    EXPECT_LT(loss, max_loss);
    EXPECT_GT(loss, 0.92 * max_loss);
  }
}

TEST(SliceBudget, ATimeWithoutLaunchesIsNoIsolatedRate) {
  SliceBudget control(0.3, 100);
  RestrictedProgram idle(control, 0, sliced_rate), program(control, 150, sliced_rate, 1);
  idle.run(1, false);
  program.run(0.42, false);
  const double before = program.launches();
  program.run(20, true);
  EXPECT_NEAR((program.launches() - before) / 20 / 150, 0.7, 0.02);
}

TEST(SliceBudget, TheStartOfTheOtherProgramIsNoIsolatedRate) {
  SliceBudget control(0.3, 100);
  RestrictedProgram program(control, 150, sliced_rate);
  program.run(2, false);
  program.set_isolated_rate(140);  // the other program makes its context
  program.run(0.42, false);
  const double before = program.launches();
  program.run(20, true);
  EXPECT_NEAR((program.launches() - before) / 20 / 150, 0.7, 0.02);
}

TEST(SliceBudget, AllowsNoMoreThanTheDriversOwnSlicesTake) {
  SliceBudget control(0.1, 100);
  RestrictedProgram program(control, 150, sliced_rate);
  program.run(1, false);
  const double before = program.launches();
  program.run(20, true);
  EXPECT_NEAR((program.launches() - before) / 20 / 150, 0.84, 0.01);
}

TEST(SliceBudget, WithoutAnIsolatedRateTheDriversOwnSlicesAreTheReference) {
  SliceBudget control(0.3, 100);
  RestrictedProgram program(control, 0, sliced_rate);
  program.run(20, true);
  EXPECT_NEAR(program.launches() / 20, 0.7 * 126, 4);
}

TEST(SliceBudget, ShortSlicesBeginAtOnceWhereTheRateIsKnown) {
  SliceBudget control(0.3, 100);
  RestrictedProgram program(control, 150, sliced_rate);
  program.run(1, false);
  EXPECT_EQ(control.restriction().slice_microseconds, 0U);
  program.run(0.02, true);
  EXPECT_EQ(control.restriction().slice_microseconds, 100U);
}

TEST(LossControl, OptionsChooseTheKind) {
  ArbiterOptions options;
  options.max_loss = 1;
  EXPECT_EQ(make_loss_control(options)->restriction().slice_microseconds, 100U);
  options.sharing = Sharing::mps;
  EXPECT_EQ(make_loss_control(options)->restriction().occupancy_percent, 100U);  // searched from no limit
  options.headroom_percent = 62;
  EXPECT_EQ(make_loss_control(options)->restriction().occupancy_percent, 38U);
}

}  // namespace
}  // namespace wm::runtime
