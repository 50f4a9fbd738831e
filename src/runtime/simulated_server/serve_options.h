// How a daemon serves a simulated GPU.
#pragma once

#include <cstdint>
#include <string>

namespace wm::runtime {

struct SimulatedServeOptions {
  std::string gpu;  // its name, or the path of its YAML file
  std::string policy = "left_over";
  bool on_block_machine = false;  // else on the cycle machine
  std::string socket;
  unsigned mode = 0600;
  std::uint32_t threads = 1;
  double host_time = 0;            // simulated time per time of the host
  std::uint64_t memory_bytes = 0;  // device memory for all programs
  std::uint32_t programs = 0;      // time begins when so many have connected, and the daemon ends when they have gone
  double patience = 10;            // seconds
  bool measure_isolated = false;   // also where no goal needs it
};

}  // namespace wm::runtime
