// How restrictions follow the rate of the program that they restrict.
#include "runtime/arbiter/loss_control.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

// A program that makes launches at a rate that depends on its restriction, looked at every 10 ms.
class RestrictedProgram {
 public:
  using Rate = std::function<double(const Restriction&)>;
  RestrictedProgram(LossControl& control, double isolated_rate, Rate rate, double begin = 0)
      : control_(control), isolated_rate_(isolated_rate), rate_(std::move(rate)), now_(begin) {}

  void run(double seconds, bool is_restricted) {
    for (const double end = now_ + seconds; now_ < end; now_ += 0.01) {
      launches_ += 0.01 * (is_restricted ? rate_(control_.restriction()) : isolated_rate_);
      control_.observe(now_, static_cast<std::uint64_t>(launches_), is_restricted);
      if (is_restricted) percents_.push_back(control_.restriction().occupancy_percent);
    }
  }
  // The rate in the next seconds.
  double restricted_rate(double seconds) {
    const double before = launches_;
    percents_.clear();
    run(seconds, true);
    return (launches_ - before) / seconds;
  }
  // The part of these seconds with this limit.
  [[nodiscard]] double part_with(unsigned percent) const {
    return static_cast<double>(std::count(percents_.begin(), percents_.end(), percent)) /
           static_cast<double>(percents_.size());
  }
  [[nodiscard]] double launches() const { return launches_; }
  [[nodiscard]] unsigned loosest() const { return *std::max_element(percents_.begin(), percents_.end()); }

 private:
  LossControl& control_;
  const double isolated_rate_;
  const Rate rate_;
  double now_, launches_ = 0;
  std::vector<unsigned> percents_;
};

// Rates at 75, 62, 50, 38, 25 and 12 percent.
RestrictedProgram::Rate by_limit(std::vector<double> rates) {
  return [rates = std::move(rates)](const Restriction& r) {
    const std::vector<unsigned> limits{75, 62, 50, 38, 25, 12};
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (limits[i] == r.occupancy_percent) return rates[i];
    }
    ADD_FAILURE() << r.occupancy_percent;
    return 0.0;
  };
}

TEST(LimitSearch, AComputeBoundProgramKeepsFewBlocks) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 150, by_limit({149, 148, 148, 147, 130, 80}));
  program.run(1, false);
  program.run(5, true);
  EXPECT_EQ(program.loosest(), 50U);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 150);
  EXPECT_NEAR(program.part_with(25), 0.8 * 9 / 17, 0.1);
  EXPECT_NEAR(program.part_with(25) + program.part_with(38), 1, 1e-9);
}

TEST(LimitSearch, AMemoryBoundProgramKeepsMoreBlocks) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 187, by_limit({187, 186, 182, 167, 120, 60}));
  program.run(1, false);
  program.run(5, true);
  EXPECT_EQ(program.loosest(), 50U);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 187);
  EXPECT_NEAR(program.part_with(38), 0.8 * 10 / 15, 0.1);
  EXPECT_NEAR(program.part_with(38) + program.part_with(50), 1, 1e-9);
}

TEST(LimitSearch, ATimeWithoutLaunchesIsNoIsolatedRate) {
  LimitSearch control(0.08);
  RestrictedProgram idle(control, 0, by_limit({})), program(control, 187, by_limit({187, 186, 182, 167, 120, 60}), 1);
  idle.run(1, false);
  program.run(0.42, false);
  program.run(5, true);
  EXPECT_GE(program.restricted_rate(6), 0.9 * 187);  // after a short isolated time
}

TEST(LimitSearch, WithoutAnIsolatedRateTheFirstLimitIsTheReference) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 0, by_limit({187, 186, 182, 160, 120, 60}));
  program.run(5, true);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 182);
  EXPECT_GT(program.part_with(50), 0.3);
}

TEST(LimitSearch, ALimitThatCostsTooMuchIsLoosened) {
  LimitSearch control(0.05);
  RestrictedProgram program(control, 200, by_limit({198, 180, 150, 100, 60, 30}));
  program.run(1, false);
  program.run(8, true);
  EXPECT_GE(program.restricted_rate(6), 0.95 * 200);
  EXPECT_GT(program.part_with(75), 0.5);
}

TEST(LimitSearch, WhatTheLatencySensitiveProgramUsesItselfDoesNotLoosenTheLimit) {
  LimitSearch control(0.05);
  RestrictedProgram program(control, 200, by_limit({121, 121, 120, 119, 100, 60}));
  program.run(1, false);
  program.run(8, true);
  EXPECT_GE(program.restricted_rate(6), 0.95 * 121);
  EXPECT_NEAR(program.part_with(38) + program.part_with(25), 1, 1e-9);
}

TEST(LimitSearch, OtherWorkOfTheProgramIsSearchedAnew) {
  LimitSearch control(0.05);
  double scale = 1;
  const auto rate = by_limit({187, 186, 182, 167, 120, 60});
  RestrictedProgram program(control, 187, [&](const Restriction& r) { return scale * rate(r); });
  program.run(1, false);
  program.run(6, true);
  scale = 0.5;
  program.run(60, true);
  EXPECT_GT(program.restricted_rate(6), 0.93 * 0.5 * 182);
  EXPECT_EQ(program.part_with(25) + program.part_with(12), 0);
}

// The rates of an H200: short slices take 80% of a compute-bound program, the driver's own 16%.
double sliced_rate(const Restriction& r) { return r.slice_microseconds == 0 ? 126 : 30; }

TEST(SliceBudget, KeepsTheLossAtItsBound) {
  for (const double max_loss : {0.3, 0.5, 0.7}) {
    SliceBudget control(max_loss, 100);
    RestrictedProgram program(control, 150, sliced_rate);
    program.run(1, false);
    const double before = program.launches();
    program.run(20, true);
    EXPECT_NEAR((program.launches() - before) / 20 / 150, 1 - max_loss, 0.02);
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
  EXPECT_EQ(LossControl::make(options)->restriction().slice_microseconds, 100U);
  options.sharing = Sharing::mps;
  EXPECT_EQ(LossControl::make(options)->restriction().occupancy_percent, 50U);
  options.headroom_percent = 62;
  EXPECT_EQ(LossControl::make(options)->restriction().occupancy_percent, 38U);
}

}  // namespace
}  // namespace wm::runtime
