// Energy of a run: the dynamic energy of each kernel's events, and the static energy of the chip.
//
// Dynamic energy is counted per kernel, from its own counters: events times the picojoules of the GPU's configuration.
// Static energy is the time SMs were on or gated, and that of everything else.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/memory/partition.h"
#include "sim/cycle/sm/counters.h"

namespace wm::sim {

struct EnergyReport {
  double joules = 0;
  double static_joules = 0;
  std::vector<double> kernel_joules;  // dynamic, by client
  double seconds = 0;

  [[nodiscard]] double watts() const { return seconds > 0 ? joules / seconds : 0; }
};

// Dynamic energy of one kernel, in picojoules.
std::uint64_t dynamic_picojoules(const gpu::PowerConfig& power, const SmCounters& sm, const PartitionCounters& memory);

// `gated`: cycles SMs were switched off, summed over SMs. `dynamic`: by client.
EnergyReport energy_of(const gpu::GpuConfig& config, std::uint64_t cycles, std::uint64_t gated,
                       const std::vector<std::uint64_t>& dynamic);

}  // namespace wm::sim
