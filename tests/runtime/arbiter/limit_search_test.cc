// How the limit of blocks follows the rate of the limited program, and the requests that it shall shorten.
#include "runtime/arbiter/limit_search.h"

#include <gtest/gtest.h>

#include "restricted_program.h"

namespace wm::runtime {
namespace {

// Rates without a limit and at 75, 62, 50, 38, 25 and 12 percent.
RestrictedProgram::Rate by_limit(std::vector<double> rates) {
  return [rates = std::move(rates)](const Restriction& r) {
    const std::vector<unsigned> limits{100, 75, 62, 50, 38, 25, 12};
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (limits[i] == r.occupancy_percent) return rates[i];
    }
    ADD_FAILURE() << r.occupancy_percent;
    return 0.0;
  };
}

TEST(LimitSearch, AComputeBoundProgramKeepsFewBlocks) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 150, by_limit({150, 149, 148, 148, 147, 130, 80}));
  program.run(1, false);
  program.run(1, true);
  EXPECT_EQ(program.part_with(75) + program.part_with(62), 0);  // after a time without a limit the search begins at 50
  program.run(5, true);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 150);
  EXPECT_NEAR(program.part_with(25), 0.8 * 9 / 17, 0.1);
  EXPECT_NEAR(program.part_with(25) + program.part_with(38), 1, 1e-9);
}

TEST(LimitSearch, AMemoryBoundProgramKeepsMoreBlocks) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 187, by_limit({187, 187, 186, 182, 167, 120, 60}));
  program.run(1, false);
  program.run(1, true);
  EXPECT_EQ(program.part_with(75) + program.part_with(62), 0);  // after a time without a limit the search begins at 50
  program.run(5, true);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 187);
  EXPECT_NEAR(program.part_with(38), 0.8 * 10 / 15, 0.1);
  EXPECT_NEAR(program.part_with(38) + program.part_with(50), 1, 1e-9);
}

TEST(LimitSearch, ATimeWithoutLaunchesIsNoIsolatedRate) {
  LimitSearch control(0.08);
  RestrictedProgram idle(control, 0, by_limit({})),
      program(control, 187, by_limit({187, 187, 186, 182, 167, 120, 60}), 1);
  idle.run(1, false);
  program.run(0.42, false);
  program.run(5, true);
  EXPECT_GE(program.restricted_rate(6), 0.9 * 187);  // after a short isolated time
}

TEST(LimitSearch, WithoutAnIsolatedRateTheOneWithoutALimitIsTheReference) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 0, by_limit({187, 187, 186, 182, 160, 120, 60}));
  program.run(5, true);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 187);
  EXPECT_GT(program.part_with(50), 0.3);
}

TEST(LimitSearch, ALimitThatCostsTooMuchIsLoosened) {
  LimitSearch control(0.05);
  RestrictedProgram program(control, 200, by_limit({200, 198, 180, 150, 100, 60, 30}));
  program.run(1, false);
  program.run(8, true);
  EXPECT_GE(program.restricted_rate(6), 0.95 * 200);
  EXPECT_GT(program.part_with(75), 0.5);
}

TEST(LimitSearch, WhatTheLatencySensitiveProgramUsesItselfDoesNotLoosenTheLimit) {
  LimitSearch control(0.05);
  RestrictedProgram program(control, 200, by_limit({121, 121, 121, 120, 119, 100, 60}));
  program.run(1, false);
  program.run(8, true);
  EXPECT_GE(program.restricted_rate(6), 0.95 * 121);
  EXPECT_NEAR(program.part_with(38) + program.part_with(25), 1, 1e-9);
}

TEST(LimitSearch, OtherWorkOfTheProgramIsSearchedAnew) {
  LimitSearch control(0.05);
  double scale = 1;
  const auto rate = by_limit({187, 187, 186, 182, 167, 120, 60});
  RestrictedProgram program(control, 187, [&](const Restriction& r) { return scale * rate(r); });
  program.run(1, false);
  program.run(6, true);
  scale = 0.5;
  program.run(60, true);
  EXPECT_GT(program.restricted_rate(6), 0.93 * 0.5 * 182);
  EXPECT_EQ(program.part_with(25) + program.part_with(12), 0);
}

TEST(LimitSearch, AnIsolatedRateOfAProgramThatIsNotWarmYetAllowsNoLoss) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 60, by_limit({187, 187, 186, 182, 167, 120, 60}));
  program.run(1, false);
  program.run(6, true);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 187);
}

TEST(LimitSearch, WhereEveryLimitCostsTooMuchThereIsNoneMostOfTheTime) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 70, by_limit({70, 50, 49, 48, 48, 47, 46}));
  program.run(1, false);
  program.run(6, true);
  EXPECT_GE(program.restricted_rate(6), 0.92 * 70);
  EXPECT_GT(program.part_with(100), 0.6);
}

// Seconds of a request with and without a limit.
RestrictedProgram::Rate request_seconds(double unlimited, double limited) {
  return [=](const Restriction& r) { return r.occupancy_percent == 100 ? unlimited : limited; };
}

TEST(LimitSearch, LimitsThatDoNotShortenRequestsEnd) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 150, by_limit({150, 149, 148, 148, 147, 130, 80}));
  program.serve(200, request_seconds(2.0e-3, 1.9e-3));
  program.run(1, false);
  program.run(8, true);
  EXPECT_TRUE(control.restriction().has_no_gain);
  EXPECT_NEAR(program.restricted_rate(6), 150, 1);
  EXPECT_EQ(program.part_with(100), 1);
}

TEST(LimitSearch, LimitsThatShortenRequestsStay) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 150, by_limit({150, 149, 148, 148, 147, 130, 80}));
  program.serve(200, request_seconds(2.0e-3, 1.5e-3));
  program.run(1, false);
  program.run(8, true);
  (void)program.restricted_rate(6);
  EXPECT_FALSE(control.restriction().has_no_gain);
  EXPECT_EQ(program.part_with(100), 0);
}

TEST(LimitSearch, TimesWithoutALimitBecomeRareWhereLimitsHelp) {
  LimitSearch control(0.08);
  RestrictedProgram program(control, 150, by_limit({150, 149, 148, 148, 147, 130, 80}));
  program.serve(2000, request_seconds(1.0e-4, 0.6e-4));
  program.run(1, false);
  program.run(160, true);
  (void)program.restricted_rate(640);
  EXPECT_GT(program.part_with(100), 0);
  EXPECT_LT(program.part_with(100), 0.005);  // a p99 does not show them
}

TEST(LimitSearch, LimitsReturnWhenTheyHelpLater) {
  LimitSearch control(0.08);
  double limited = 2.0e-3;
  RestrictedProgram program(control, 150, by_limit({150, 149, 148, 148, 147, 130, 80}));
  program.serve(200, [&](const Restriction& r) { return r.occupancy_percent == 100 ? 2.0e-3 : limited; });
  program.run(1, false);
  program.run(8, true);
  EXPECT_TRUE(control.restriction().has_no_gain);
  limited = 1.0e-3;
  program.run(30, true);
  EXPECT_FALSE(control.restriction().has_no_gain);
  EXPECT_LT(control.restriction().occupancy_percent, 100U);
}

}  // namespace
}  // namespace wm::runtime
