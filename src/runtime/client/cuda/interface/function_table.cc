#include "runtime/client/cuda/interface/function_table.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/client/cuda/interface/default_stream.h"
#include "runtime/client/cuda/interface/functions.h"

namespace wm::cuda {

thread_local bool PerThreadDefaultStream::active = false;

void report_missing(std::string_view name) {
  static std::mutex mutex;
  static auto* reported = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  if (!reported->emplace(name).second) return;
  std::fprintf(stderr, "wm: the simulated CUDA driver does not have %s\n", std::string(name).c_str());
}

}  // namespace wm::cuda

// The variants whose default stream is the calling thread's own.
#define WM_CUDA(name, since, parameters)
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments) \
  CUresult name##suffix parameters {                               \
    const wm::cuda::PerThreadDefaultStream scope;                  \
    return name arguments;                                         \
  }
#include "runtime/client/cuda/interface/functions.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM

// Refused functions take any arguments: a caller passes them in registers or on its own stack.
#define WM_CUDA_REFUSED(name, since)                                  \
  extern "C" __attribute__((visibility("default"))) CUresult name() { \
    wm::cuda::report_missing(#name);                                  \
    return CUDA_ERROR_NOT_SUPPORTED;                                  \
  }
#include "runtime/client/cuda/interface/refused.def"
#undef WM_CUDA_REFUSED

namespace wm::cuda {

namespace {

DefaultStream suffix_of(std::string_view name) {
  return name.ends_with("_ptsz") || name.ends_with("_ptds") ? DefaultStream::per_thread : DefaultStream::any;
}

template <typename FunctionType>
void* address_of(FunctionType* function) {
  return reinterpret_cast<void*>(function);
}

const std::vector<ExportedFunction>& table() {
  static const auto* functions = new std::vector<ExportedFunction>{
#define WM_CUDA(name, since, parameters) {#name, since, DefaultStream::any, true, address_of(&(name))},
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments)  \
  {#name, since, DefaultStream::legacy, true, address_of(&(name))}, \
      {#name #suffix, since, DefaultStream::per_thread, true, address_of(&name##suffix)},
#define WM_CUDA_REFUSED(name, since) {#name, since, suffix_of(#name), false, address_of(&(name))},
#include "runtime/client/cuda/interface/functions.def"
#include "runtime/client/cuda/interface/refused.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM
#undef WM_CUDA_REFUSED
  };
  return *functions;
}

}  // namespace

std::string_view ExportedFunction::base_name() const {
  std::string_view base = name;
  if (base.ends_with("_ptsz") || base.ends_with("_ptds")) base.remove_suffix(5);
  const std::size_t length = base.size();
  if (length > 3 && base[length - 3] == '_' && base[length - 2] == 'v' && base[length - 1] >= '0' &&
      base[length - 1] <= '9') {
    base.remove_suffix(3);
  }
  return base;
}

std::span<const ExportedFunction> exported_functions() { return table(); }

const ExportedFunction* find_function(std::string_view base_name, int version, DefaultStream default_stream,
                                      bool& too_new) {
  const ExportedFunction* best = nullptr;
  too_new = false;
  for (const ExportedFunction& f : table()) {
    if (f.base_name() != base_name) continue;
    if (f.since > version) {
      too_new = true;
      continue;
    }
    // A function without variants serves both kinds of default stream.
    const bool fits = f.default_stream == default_stream || f.default_stream == DefaultStream::any;
    if (!fits) continue;
    const bool exact = f.default_stream == default_stream;
    const bool best_exact = best != nullptr && best->default_stream == default_stream;
    if (best == nullptr || f.since > best->since || (f.since == best->since && exact && !best_exact)) best = &f;
  }
  return best;
}

}  // namespace wm::cuda
