// Warm-up and region of interest: the run is the same, and its rates count the region only.
#include "lab/run/measured_region.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "lab/scratch.h"

namespace wm::lab {
namespace {

CorunResult vecadd_for(std::uint64_t cycles, RegionStart region) {
  Participant p = zoo_participant("vecadd", zoo::Size::small);
  p.launches = 0;
  CorunOptions options;
  options.cycles = cycles;
  options.region = region;
  const auto result = corun(test_gpu("qos16"), {p}, *policy::choose("left_over"), options);
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return *result;
}

TEST(MeasuredRegion, CountsWhatTheRunDidAfterTheWarmUp) {
  const KernelResult all = vecadd_for(12'000, {}).kernels[0];
  const CorunResult warm = vecadd_for(12'000, {.cycles = 5000});
  EXPECT_GE(warm.measured_from, 5000U);
  EXPECT_LT(warm.measured_from, 6000U) << "a region begins with a quantum";
  const KernelResult before = vecadd_for(warm.measured_from, {}).kernels[0];
  const sim::ClientTotals& region = warm.kernels[0].totals;
  EXPECT_EQ(region.sm.thread_instructions, all.totals.sm.thread_instructions - before.totals.sm.thread_instructions);
  EXPECT_EQ(region.cycles, 12'000 - warm.measured_from);
  EXPECT_EQ(warm.kernels[0].normalized(), 1) << "the isolated run has the same region";
}

TEST(MeasuredRegion, BeginsWhenEveryKernelHasCompletedItsLaunches) {
  const CorunResult result = vecadd_for(12'000, {.launches = 3});
  EXPECT_GT(result.measured_from, 0U);
  EXPECT_EQ(result.kernels[0].totals.launches + 3, vecadd_for(12'000, {}).kernels[0].totals.launches);
}

TEST(MeasuredRegion, ARunThatEndsBeforeItsRegionIsAnError) {
  CorunOptions options;
  options.cycles = 1000;
  for (const RegionStart region : {RegionStart{.cycles = 1000}, RegionStart{.launches = 1000}}) {
    options.region = region;
    Participant p = zoo_participant("vecadd", zoo::Size::small);
    p.launches = 0;
    EXPECT_FALSE(corun(test_gpu("qos16"), {p}, *policy::choose("left_over"), options).ok());
  }
}

TEST(MeasuredRegion, IsPartOfTheSpecificationAndOfTheIsolatedKey) {
  RunSpec spec;
  const std::string without = to_json(spec).dump();
  spec.warm = 5;
  spec.from = 2;
  EXPECT_EQ(*run_spec_from_json(to_json(spec).dump(), "spec"), spec);
  EXPECT_EQ(without.find("warm"), std::string::npos) << "stored keys stay as they are";
  const Participant p = zoo_participant("vecadd", zoo::Size::small);
  const auto gpu = test_gpu("qos16");
  EXPECT_NE(isolated_key(gpu, p, 1000), isolated_key(gpu, p, 1000, {.cycles = 5}));
}

}  // namespace
}  // namespace wm::lab
