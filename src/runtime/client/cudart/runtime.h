// The CUDA runtime API on the simulated driver: libcudart.so for programs built with `nvcc -cudart shared`.
//
// The runtime works in the primary context, which every thread gets at its first call. A call's error is also the
// thread's last error until the thread asks for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/client/cuda/interface/functions.h"

#define WM_RUNTIME_API extern "C" __attribute__((visibility("default")))

// Errors of the runtime have the numbers of the driver's, and some of their own.
using cudaError_t = int;
enum : cudaError_t {
#define WM_RUNTIME_ERROR(name, value) name = (value),
#include "runtime/client/cudart/errors.def"
#undef WM_RUNTIME_ERROR
};

struct dim3 {
  unsigned x, y, z;
};

namespace wm::cudart {

// Makes the primary context current in a thread that has none.
CUresult prepare();

// Keeps an error as the thread's last one, and returns it.
cudaError_t remember(cudaError_t error);
inline cudaError_t remember(CUresult result) { return remember(static_cast<cudaError_t>(result)); }
cudaError_t& last_error();

// Calls a function of the driver in the primary context.
template <typename Function, typename... Arguments>
cudaError_t call(Function* function, Arguments... arguments) {
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  return remember(function(arguments...));
}

// The kernel or variable that the program registered for an address of the host.
CUresult find_function(const void* host, CUfunction* function);
// The address of the host that a function was registered for; nullptr: none.
const void* host_of(CUfunction function);
CUresult find_variable(const void* host, CUdeviceptr* address, std::size_t* bytes);

}  // namespace wm::cudart
