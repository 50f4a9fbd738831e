// Runs an application on a simulated GPU without other clients and times every launch, for the comparison with
// hardware.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"
#include "gpu/gpu_config.h"

namespace wm::lab {

struct SimulatedLaunch {
  std::string kernel;
  std::uint64_t cycles = 0;             // from its arrival until all it stored is visible
  std::uint64_t warp_instructions = 0;  // PTX instructions
  std::uint64_t issued = 0;             // issue slots
  std::uint64_t l2_sectors = 0;
  std::uint64_t dram_read_sectors = 0;
  std::uint64_t dram_write_sectors = 0;
};

struct SimulatedRun {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<SimulatedLaunch> launches;
};

// At most `launches` of it (0: all).
Result<SimulatedRun> simulate(const gpu::GpuConfig& gpu, std::string_view ptx, const gpu::Application& application,
                              std::uint32_t launches = 0);

}  // namespace wm::lab
