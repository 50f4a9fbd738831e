// Runs launches on the simulated GPU: without time, or in the time of the cycle machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The stream of a launch, and its priority: a larger one goes first, where a policy decides.
struct StreamTerms {
  int priority = 0;
  std::uint64_t stream = 0;
  // The SMs of its green context, which %smid tells; runners with time use all SMs. Null: all.
  std::shared_ptr<const std::vector<std::uint32_t>> sms{};
};

class KernelRunner {
 public:
  virtual ~KernelRunner() = default;
  // Runs the grid to its end. Called from any number of threads at once.
  virtual KernelResult run(const exec::Grid& grid, const LoadedKernel& kernel, const StreamTerms& terms) = 0;
  // The rate that launches of a kernel must reach, in thread instructions per cycle. A runner without time ignores it.
  virtual void set_goal(const std::string& /*kernel*/, double /*ipc*/) {}
  // Simulated time in nanoseconds; empty where the runner has no time.
  [[nodiscard]] virtual std::optional<std::int64_t> now() { return std::nullopt; }
  // A module is ready, and is about to go. A runner in another process loads it there.
  virtual Result<void> module_loaded(const LoadedModule& /*module*/, std::string_view /*ptx*/) { return {}; }
  virtual void module_unloaded(const LoadedModule& /*module*/) {}
  // The program has asked whether work is done, and it is not: a program that asks in a loop must not stop time.
  virtual void asked_in_vain() {}
};

struct TimedOptions {
  enum class Machine : std::uint8_t { cycle, block } machine = Machine::cycle;
  std::uint32_t threads = 1;
  std::string policy = "left_over";
  // Launches, counted from 1, that take time; others run without.
  std::uint64_t first_launch = 1;
  std::uint64_t last_launch = ~std::uint64_t{0};
};

// Without time. Blocks run on all processors of the host, unless the kernel's result could depend on their order:
// then they run one after the other, so that every run gives the same bits. The GPU has so many SMs, on which blocks
// are in turn.
std::unique_ptr<KernelRunner> make_functional_runner(DeviceMemory& memory, std::uint32_t threads,
                                                     std::uint32_t sms = 1);

// On a machine with time. `config` outlives the runner.
Result<std::unique_ptr<KernelRunner>> make_timed_runner(DeviceMemory& memory, const gpu::GpuConfig& config,
                                                        const TimedOptions& options);

// Whether the memory that a race-free kernel leaves is the same for any order of its blocks: it has no atomics on
// global memory but integer reductions, and no access that other blocks may wait for.
[[nodiscard]] bool independent_of_block_order(const exec::Program& program);

}  // namespace wm::runtime
