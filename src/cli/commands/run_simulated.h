// Runs a CUDA program on the simulated GPU: warpmux's libcuda.so.1 and libcudart.so come first on its library path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace wm::cli {

struct RunSimulatedOptions {
  std::string gpu;     // a name or a YAML file
  std::string timing;  // functional or cycle
  std::string policy;  // policy for timed kernels
  std::string from_launch;
  std::string memory;   // device memory, as '8 GB'
  std::string library;  // the folder of the libraries, where it is not beside wm
  std::vector<std::string> command;
};

// The exit code of the program.
Result<int> run_simulated(const RunSimulatedOptions& options);

// A program on the simulated GPU of a daemon.
struct RunServedOptions {
  std::string socket;
  std::string gpu;  // the daemon's
  std::string name;
  std::string goal;
  double share = 0;            // 0: 1
  std::uint64_t priority = 0;  // larger goes first
  std::string library;
  std::vector<std::string> command;
};
Result<int> run_served(const RunServedOptions& options);

}  // namespace wm::cli
