// The CUDA driver of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace wm::cli {

struct CudaDriver {
  std::string file;           // libcuda.so.1, as the loader finds it, or $WARPMUX_LIBCUDA
  std::string device;         // the name of its first GPU
  std::uint64_t threads = 0;  // that this GPU holds at once; 0: the driver does not tell
};

// Loads the driver and asks for its GPU; no context is created.
Result<CudaDriver> find_cuda_driver();

// Its file, without a question to the driver; empty: there is none.
std::string cuda_driver_file();

}  // namespace wm::cli
