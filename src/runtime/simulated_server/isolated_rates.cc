#include "runtime/simulated_server/isolated_rates.h"

#include <fmt/format.h>

#include "runtime/simulated/cycle_launch_machine.h"

namespace wm::runtime {

Result<LaunchRate> IsolatedRates::of(const MachineLaunch& launch, const ProgramMemory& memory) {
  const exec::Grid& grid = launch.grid;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {} {}", static_cast<const void*>(grid.program.get()), grid.blocks.x, grid.blocks.y,
                  grid.blocks.z, grid.threads.x, grid.threads.y, grid.threads.z, grid.shared_bytes);
  if (const auto known = known_.find(key); known != known_.end()) return known->second.rate;
  const auto copy = memory.copy();
  if (!copy) return copy.error();
  auto machine = CycleLaunchMachine::make(config_, "left_over", threads_);
  if (!machine) return machine.error();
  MachineLaunch isolated = launch;
  isolated.grid.memory = &(*copy)->space();
  isolated.grid.print = {};
  isolated.arrive = {};
  (*machine)->start(std::move(isolated));
  LaunchRate rate;
  if (auto ran = (*machine)->run_to_end(launch.is_unwanted); !ran) return ran.error();
  if ((*machine)->unfinished() != 0) return rate;  // its program has gone
  for (const FinishedLaunch& done : (*machine)->take_finished()) {
    if (!done.result.fault) rate = {done.thread_instructions, done.result.cycles};
  }
  known_[key] = {grid.program, rate};
  return rate;
}

}  // namespace wm::runtime
