// Runs launches on the simulated GPU: without time, or in the time of the cycle machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "exec/fault.h"
#include "exec/grid.h"
#include "exec/statistics.h"
#include "runtime/simulated/device_memory.h"
#include "runtime/simulated/loaded_module.h"

namespace wm::runtime {

struct KernelResult {
  exec::LaunchStatistics statistics;
  std::optional<exec::Fault> fault;
  std::uint64_t nanoseconds = 0;  // simulated time that it took; 0 where the runner has no time
  std::uint64_t cycles = 0;       // the same in cycles of the SMs
};

class KernelRunner {
 public:
  virtual ~KernelRunner() = default;
  // Runs the grid to its end. Called from any number of threads at once. A larger priority goes first, where a policy
  // decides.
  virtual KernelResult run(const exec::Grid& grid, const LoadedKernel& kernel, int priority) = 0;
  // The rate that launches of a kernel must reach, in thread instructions per cycle. A runner without time ignores it.
  virtual void set_goal(const std::string& /*kernel*/, double /*ipc*/) {}
};

struct TimedOptions {
  std::uint32_t threads = 1;
  std::string policy = "left_over";
  // Launches, counted from 1, that take time; others run without.
  std::uint64_t first_launch = 1;
  std::uint64_t last_launch = ~std::uint64_t{0};
};

// Without time. Blocks run on all processors of the host, unless the kernel's result could depend on their order:
// then they run one after the other, so that every run gives the same bits.
std::unique_ptr<KernelRunner> make_functional_runner(DeviceMemory& memory, std::uint32_t threads);

// On the cycle machine. `config` outlives the runner.
Result<std::unique_ptr<KernelRunner>> make_timed_runner(DeviceMemory& memory, const gpu::GpuConfig& config,
                                                        const TimedOptions& options);

// Whether the memory that a race-free kernel leaves is the same for any order of its blocks: it has no atomics on
// global memory but integer reductions, and no access that other blocks may wait for.
[[nodiscard]] bool independent_of_block_order(const exec::Program& program);

}  // namespace wm::runtime
