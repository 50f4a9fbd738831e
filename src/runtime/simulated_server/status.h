// The document of `wm status` for a simulated GPU: the keys of the daemon of a real device, and `simulated`.
#pragma once

#include <string>
#include <vector>

#include "runtime/simulated_server/program.h"
#include "runtime/simulated_server/serve_options.h"

namespace wm::runtime {

struct SimulatedStatus {
  const SimulatedServeOptions& options;
  const gpu::GpuConfig& config;
  Cycles now;
  std::uint64_t seen = 0;
  std::vector<ServedProgram*> programs;
};

[[nodiscard]] std::string simulated_status(const SimulatedStatus& status);

}  // namespace wm::runtime
