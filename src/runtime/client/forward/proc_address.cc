// Entry points by name: the real driver answers, and its answer is replaced where this library wraps that function.
// A version of a function that this library does not know has another address and is returned as it is.
#include "runtime/client/forward/real_driver.h"

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags, int* status) {
  const auto ask = wm::forward::real().cuGetProcAddress_v2;
  if (ask == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = ask(symbol, function, version, flags, status);
  if (result == CUDA_SUCCESS && function != nullptr) *function = wm::forward::wrapper_of(*function);
  return result;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags) {
  const auto ask = wm::forward::real().cuGetProcAddress;
  if (ask == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = ask(symbol, function, version, flags);
  if (result == CUDA_SUCCESS && function != nullptr) *function = wm::forward::wrapper_of(*function);
  return result;
}
