// The rates of launches in isolation: a launch runs once on a machine of its own, on a copy of its program's memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "gpu/gpu_config.h"
#include "runtime/simulated/launch_machine.h"
#include "runtime/simulated_server/program_memory.h"

namespace wm::runtime {

struct LaunchRate {
  std::uint64_t instructions = 0;  // thread instructions; 0: the launch does not end in isolation
  std::uint64_t cycles = 0;
  [[nodiscard]] double ipc() const {
    return cycles == 0 ? 0 : static_cast<double>(instructions) / static_cast<double>(cycles);
  }
};

class IsolatedRates {
 public:
  // `config` outlives it.
  IsolatedRates(const gpu::GpuConfig& config, std::uint32_t threads) : config_(config), threads_(threads) {}

  // Measured at the first launch of each kernel with this grid and block. No process may write to `memory` meanwhile.
  Result<LaunchRate> of(const MachineLaunch& launch, const ProgramMemory& memory);

 private:
  struct Known {
    std::shared_ptr<const exec::Program> program;  // keeps the address that is part of the key
    LaunchRate rate;
  };
  const gpu::GpuConfig& config_;
  const std::uint32_t threads_;
  std::map<std::string, Known> known_;
};

}  // namespace wm::runtime
