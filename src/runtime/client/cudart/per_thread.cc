// Variants whose default stream is the calling thread's own, and functions that are refused.
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "runtime/client/cudart/runtime.h"
#include "runtime/client/cudart/volume.h"

namespace wm::cudart {
namespace {

CUstream own(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

cudaError_t refuse(const char* name) {
  static std::mutex mutex;
  static auto* reported = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  if (reported->insert(name).second) std::fprintf(stderr, "wm: the simulated CUDA runtime does not have %s\n", name);
  return remember(cudaErrorNotSupported);
}

}  // namespace
}  // namespace wm::cudart

using wm::cudart::own;

WM_RUNTIME_API cudaError_t cudaStreamSynchronize(CUstream stream);

#define WM_RUNTIME_STREAM(name, parameters, arguments) WM_RUNTIME_API cudaError_t name parameters;
#define WM_RUNTIME_BLOCKING(name, parameters, async, arguments)
#include "runtime/client/cudart/per_thread.def"
#undef WM_RUNTIME_STREAM
#undef WM_RUNTIME_BLOCKING

#define WM_RUNTIME_STREAM(name, parameters, arguments) \
  WM_RUNTIME_API cudaError_t name##_ptsz parameters { return name arguments; }
#define WM_RUNTIME_BLOCKING(name, parameters, async, arguments)                        \
  WM_RUNTIME_API cudaError_t name##_ptds parameters {                                  \
    if (const cudaError_t begun = async arguments; begun != cudaSuccess) return begun; \
    return cudaStreamSynchronize(CU_STREAM_PER_THREAD);                                \
  }
#include "runtime/client/cudart/per_thread.def"
#undef WM_RUNTIME_STREAM
#undef WM_RUNTIME_BLOCKING

// Refused functions take any arguments: a caller passes them in registers or on its own stack.
#define WM_RUNTIME_REFUSED(name) \
  WM_RUNTIME_API cudaError_t name() { return wm::cudart::refuse(#name); }
#include "runtime/client/cudart/refused.def"
#undef WM_RUNTIME_REFUSED
