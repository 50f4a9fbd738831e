// Energy: every event costs the picojoules that the configuration gives it, and SMs cost power while they are on.
#include "sim/cycle/power/power.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

// Each counter costs another power of ten, so that the sum shows the number of each.
TEST(Power, EveryEventHasItsOwnCost) {
  gpu::PowerConfig p;
  p.instruction_pj = 1;
  p.register_access_pj = 10;
  p.shared_access_pj = 100;
  p.l1_sector_pj = 1'000;
  p.noc_flit_pj = 10'000;
  p.l2_sector_pj = 100'000;
  p.dram_sector_pj = 1'000'000;
  SmCounters sm;
  PartitionCounters memory;
  sm.issued = 2;
  sm.register_lanes = 3;
  sm.shared_lanes = 4;
  sm.l1_sectors = 5;
  sm.texture_sectors = 1;
  sm.noc_flits = 7;
  memory.l2_sectors = 8;
  memory.dram_read_sectors = 3;
  memory.dram_write_sectors = 2;
  EXPECT_EQ(dynamic_picojoules(p, sm, memory), 5'876'432U);
}

TEST(Power, LanesCostWhatTheirUnitCosts) {
  gpu::PowerConfig p;
  SmCounters sm;
  std::uint64_t expected = 0;
  for (std::size_t u = 0; u < gpu::kUnits; ++u) {
    p.lane_operation_pj[u] = static_cast<std::uint32_t>(u + 2);
    sm.unit_lanes[u] = 100 + u;
    expected += (u + 2) * (100 + u);
  }
  EXPECT_EQ(dynamic_picojoules(p, sm, {}), expected);
}

TEST(Power, StaticEnergyIsThatOfSmsThatAreOnOfGatedOnesAndOfTheRest) {
  gpu::GpuConfig config;
  config.sm.clock_mhz = 1000;
  config.sm.count = 4;
  config.power.sm_static_mw = 1000;
  config.power.sm_gated_mw = 100;
  config.power.rest_static_mw = 10'000;
  // A millisecond, in which one SM was off for half the time.
  const EnergyReport report = energy_of(config, 1'000'000, 500'000, {2'000'000'000, 500'000'000});
  EXPECT_DOUBLE_EQ(report.seconds, 1e-3);
  EXPECT_DOUBLE_EQ(report.static_joules, 3.5e-3 + 0.05e-3 + 10e-3);
  ASSERT_EQ(report.kernel_joules.size(), 2U);
  EXPECT_DOUBLE_EQ(report.kernel_joules[0], 2e-3);
  EXPECT_DOUBLE_EQ(report.kernel_joules[1], 0.5e-3);
  EXPECT_DOUBLE_EQ(report.joules, report.static_joules + 2.5e-3);
  EXPECT_DOUBLE_EQ(report.watts(), report.joules / 1e-3);
  EXPECT_EQ(energy_of(config, 0, 0, {}).watts(), 0);
}

}  // namespace
}  // namespace wm::sim
