#include "runtime/device/cuda/driver_api.h"

#include <cstdlib>
#include <dlfcn.h>

namespace wm::runtime::cuda {

Result<DriverCalls> load_driver(const std::string& library) {
  // The driver gives streams 8 hardware queues unless told otherwise. Streams that share one wait for each other: a
  // word that workers wait for must not be written behind the end of these workers.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return Error{"no " + library + " here: is NVIDIA's driver installed?"};
  DriverCalls calls;
#define WM_CUDA_CALL(member, name, parameters)                                      \
  calls.member = reinterpret_cast<decltype(calls.member)>(::dlsym(loaded, (name))); \
  if (calls.member == nullptr) return Error{library + " has no " name ": the driver is too old"};
  WM_CUDA_CALLS(WM_CUDA_CALL)
#undef WM_CUDA_CALL
  return calls;
}

}  // namespace wm::runtime::cuda
