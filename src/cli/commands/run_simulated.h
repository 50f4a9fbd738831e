// Runs a CUDA program on the simulated GPU: warpmux's libcuda.so.1 and libcudart.so come first on its library path.
#pragma once

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

}  // namespace wm::cli
