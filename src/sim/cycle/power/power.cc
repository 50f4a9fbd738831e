#include "sim/cycle/power/power.h"

namespace wm::sim {

std::uint64_t dynamic_picojoules(const gpu::PowerConfig& p, const SmCounters& sm, const PartitionCounters& memory) {
  std::uint64_t pj = sm.issued * p.instruction_pj + sm.register_lanes * p.register_access_pj +
                     sm.shared_lanes * p.shared_access_pj + (sm.l1_sectors + sm.texture_sectors) * p.l1_sector_pj +
                     sm.noc_flits * p.noc_flit_pj + memory.l2_sectors * p.l2_sector_pj +
                     (memory.dram_read_sectors + memory.dram_write_sectors) * p.dram_sector_pj;
  for (std::size_t u = 0; u < gpu::kUnits; ++u) pj += sm.unit_lanes[u] * p.lane_operation_pj[u];
  return pj;
}

EnergyReport energy_of(const gpu::GpuConfig& config, std::uint64_t cycles, std::uint64_t gated,
                       const std::vector<std::uint64_t>& dynamic) {
  EnergyReport report;
  const double hertz = static_cast<double>(config.sm.clock_mhz) * 1e6;
  report.seconds = static_cast<double>(cycles) / hertz;
  const double on = static_cast<double>(cycles * config.sm.count - gated) / hertz;
  const double off = static_cast<double>(gated) / hertz;
  report.static_joules =
      (on * config.power.sm_static_mw + off * config.power.sm_gated_mw + report.seconds * config.power.rest_static_mw) *
      1e-3;
  report.joules = report.static_joules;
  for (const std::uint64_t pj : dynamic) {
    report.kernel_joules.push_back(static_cast<double>(pj) * 1e-12);
    report.joules += report.kernel_joules.back();
  }
  return report;
}

}  // namespace wm::sim
