// A computer with a GPU, for the block simulator: configs/systems/<name>.yaml, or defaults derived from a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "gpu/gpu_config.h"
#include "sim/block/machine.h"

namespace wm::sim {

struct CpuConfig {
  std::uint32_t cores = 4;
  std::uint32_t threads_per_core = 2;
  Picoseconds api_call{5'000'000};  // CPU time of every call to the GPU's runtime library

  [[nodiscard]] std::uint32_t hardware_threads() const { return cores * threads_per_core; }
};

struct LinkConfig {
  std::uint64_t bytes_per_second = 8'000'000'000;  // in each direction
  std::uint64_t burst_bytes = 4096;                // a transfer takes whole bursts
  Picoseconds latency{0};                          // time of a transfer before its first burst
  bool duplex = true;                              // one engine for each direction, or one for both
  // Bytes per second at which the CPU thread of a synchronous copy moves pageable memory, through pinned memory in
  // pieces too small to hold up other copies; 0: memory is pinned, and the copy holds the link.
  std::uint64_t pageable_to_device = 0;
  std::uint64_t pageable_to_host = 0;
  enum class Order { fcfs, priority } order = Order::fcfs;
};

struct SystemConfig {
  std::string name;
  std::string about;
  gpu::GpuConfig gpu;
  BlockMachineSpec machine;
  CpuConfig cpu;
  LinkConfig link;
  Picoseconds dispatch_latency{
      0};  // from a launch's issue by the command dispatcher to its arrival at the execution engine
  std::uint32_t hardware_queues = 32;
  std::uint32_t active_kernels = 0;                  // launches the execution engine holds at a time; 0: no limit
  std::vector<std::uint32_t> shared_configurations;  // bytes of shared memory an SM can be configured for, rising
};

// Defaults for a GPU: its host link, no limit on active kernels, all shared memory for every kernel.
SystemConfig system_around(const gpu::GpuConfig& gpu);

// A system, or a GPU without one of its own, for which the defaults hold.
Result<SystemConfig> parse_system(std::string_view yaml, const std::string& file, const std::string& gpu_folder);
// A path (it ends in .yaml), a name in `folder`, or the name of a GPU that has no system of its own.
Result<SystemConfig> load_system(const std::string& name_or_path, const std::string& folder,
                                 const std::string& gpu_folder);

}  // namespace wm::sim
