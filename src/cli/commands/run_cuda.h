// wm run with a daemon of `wm serve --cuda`: a CUDA program on the machine's own driver.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace wm::cli {

struct RunCudaOptions {
  std::string socket;
  std::string sharing;      // the daemon's: mps or isolated
  std::string pipe_folder;  // its MPS daemon's
  std::string name, goal;
  double share = 0;
  std::uint64_t priority = 0;
  std::string memory;            // limit of its device memory, as "4 GB"; empty: none
  std::uint64_t max_memory = 0;  // the daemon's limit in bytes; 0: none
  std::string library;           // folder of the forwarding libcuda.so.1; empty: it is searched for
  std::vector<std::string> command;
};

Result<int> run_cuda(const RunCudaOptions& options);

}  // namespace wm::cli
