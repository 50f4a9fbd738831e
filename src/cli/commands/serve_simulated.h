// wm serve --simulate: a simulated GPU that unmodified CUDA programs share, and the report of what they did.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands/command.h"

namespace wm::cli {

struct ServeSimulatedOptions {
  std::string gpu;  // a name or a YAML file; empty: a real device is served
  std::string timing = "cycle";
  std::string host_time = "none";
  std::uint32_t programs = 0;
  double patience = 10;
  std::uint32_t threads = 0;  // 0: all processors
  bool isolated = false;
  bool timeline = false;
  std::string trace, html, json;
  // Given to `wm serve` as for a real device.
  std::string policy, socket, memory;
  unsigned mode = 0600;
};

void add_serve_simulated_options(const Command& command, ServeSimulatedOptions& options);

Result<int> serve_simulated(const ServeSimulatedOptions& options);

}  // namespace wm::cli
