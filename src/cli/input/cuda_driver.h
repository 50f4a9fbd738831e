// The CUDA driver of this machine.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::cli {

struct CudaDriver {
  std::string file;    // libcuda.so.1, as the loader finds it, or $WARPMUX_LIBCUDA
  std::string device;  // the name of its first GPU
};

// Loads the driver and asks for its GPU; no context is created.
Result<CudaDriver> find_cuda_driver();

// Its file, without a question to the driver; empty: there is none.
std::string cuda_driver_file();

}  // namespace wm::cli
