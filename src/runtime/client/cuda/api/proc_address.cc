// Entry points by name.
#include <cstring>

#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/interface/function_table.h"

namespace wm::cuda {
namespace {

// Flags of cuGetProcAddress, and its answers.
enum : std::uint64_t { legacy_stream = 1, per_thread_default_stream = 2 };
enum : int { found = 0, symbol_not_found = 1, version_not_sufficient = 2 };

}  // namespace
}  // namespace wm::cuda

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags, int* status) {
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto stream = (flags & wm::cuda::per_thread_default_stream) != 0 ? wm::cuda::DefaultStream::per_thread
                                                                         : wm::cuda::DefaultStream::legacy;
  bool too_new = false;
  const auto* exported = wm::cuda::find_function(symbol, version, stream, too_new);
  *function = exported == nullptr ? nullptr : exported->address;
  if (status != nullptr) {
    *status = exported != nullptr ? wm::cuda::found
              : too_new           ? wm::cuda::version_not_sufficient
                                  : wm::cuda::symbol_not_found;
  }
  return exported == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags) {
  // The entry point of this name is the older of two, and its users mean it.
  if (symbol != nullptr && function != nullptr && std::strcmp(symbol, "cuGetProcAddress") == 0 && version < 12000) {
    *function = reinterpret_cast<void*>(&cuGetProcAddress);
    return CUDA_SUCCESS;
  }
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
