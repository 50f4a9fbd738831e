// The CUDA driver of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/arbiter/options.h"

namespace wm::cli {

struct CudaDriver {
  std::string file;            // libcuda.so.1, as the loader finds it, or $WARPMUX_LIBCUDA
  std::string device;          // the name of its first GPU
  std::uint64_t threads = 0;   // that this GPU holds at once; 0: the driver does not tell
  int compute_capability = 0;  // its major number; 0: the driver does not tell
};

// Loads the driver and asks for its GPU; no context is created.
Result<CudaDriver> find_cuda_driver();

// The SMs of the driver's GPU in groups of `sms_of_group`, as its green contexts divide them; without green contexts in
// such groups of any of its SMs.
[[nodiscard]] runtime::SmGroups find_sm_groups(std::uint32_t sms_of_group);

// The file of the CUDA driver, which is not called; empty: none is installed.
std::string cuda_driver_file();

}  // namespace wm::cli
