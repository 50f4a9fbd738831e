// The simulated H200 gives the values that the probes measured on a real one.
#include <cmath>
#include <gtest/gtest.h>

#include "gpu/load_gpu.h"
#include "probes/results.h"
#include "tree.h"

namespace wm::validation {
namespace {

const std::string kHardware = source_path("validation/h200/probes.csv");

const gpu::GpuConfig& h200() {
  static const gpu::GpuConfig config = *gpu::load_gpu("h200", source_path("configs/gpus"));
  return config;
}

class OnTheH200 : public ::testing::TestWithParam<const char*> {};
// Quantities that must agree within a tenth: latencies of a pointer chase, bandwidths, the rate of fma.
INSTANTIATE_TEST_SUITE_P(Probes, OnTheH200,
                         ::testing::Values("chase.l1", "chase.dram", "l1.read", "l1.read.v4", "rate.fma.f32",
                                           "latency.fma.f32", "latency.ld.shared", "shared.conflict.1",
                                           "shared.conflict.32", "loop.mad.1", "loop.mad.4", "loop.mad.8",
                                           "loop.mad.16", "loop.break.1", "loop.break.4", "loop.half"));
// The same, of those that take longer than a test may.
INSTANTIATE_TEST_SUITE_P(LongProbes, OnTheH200,
                         ::testing::Values("chase.l2", "l2.read", "dram.read", "dram.write", "dram.update"));

TEST_P(OnTheH200, IsWithinATenthOfHardware) {
  const auto hardware = read_results(kHardware);
  ASSERT_TRUE(hardware.ok()) << hardware.error().to_string();
  for (const Probe& p : probes(h200().sm.count)) {
    if (p.name != GetParam()) continue;
    const auto value = simulate_probe(h200(), p);
    ASSERT_TRUE(value.ok()) << value.error().to_string();
    const double measured = hardware->at(p.name);
    EXPECT_NEAR(*value / measured, 1.0, 0.1) << p.name << ": simulated " << *value << ", measured " << measured;
    return;
  }
  FAIL() << "no probe of that name";
}

TEST(Probes, EveryOneWasMeasured) {
  const auto hardware = read_results(kHardware);
  ASSERT_TRUE(hardware.ok()) << hardware.error().to_string();
  for (const Probe& p : probes(h200().sm.count)) EXPECT_TRUE(hardware->contains(p.name)) << p.name;
}

TEST(Probes, AValueIsTheSlopeBetweenTheShortAndTheLongLaunch) {
  Probe p;
  p.work = 50;
  EXPECT_DOUBLE_EQ(value_of(p, {7, 100, 300}), 4);
  p.rate = true;
  EXPECT_DOUBLE_EQ(value_of(p, {7, 100, 300}), 0.25);
  p.slope = false;
  EXPECT_DOUBLE_EQ(value_of(p, {7, 100, 200}), 0.25);
}

}  // namespace
}  // namespace wm::validation
