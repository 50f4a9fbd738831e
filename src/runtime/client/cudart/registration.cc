// The functions that programs built by nvcc call before main: their fat binaries with kernels and variables are
// registered, and loaded when one of them is first used.
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

#include "runtime/client/cuda/interface/lasting_thread_object.h"
#include "runtime/client/cudart/runtime.h"

namespace wm::cudart {
namespace {

struct RegisteredBinary {
  const void* wrapper = nullptr;
  CUmodule module = nullptr;
  std::vector<std::pair<void**, std::string>> managed;  // host pointers that get the address of a managed variable
};

struct RegisteredSymbol {
  RegisteredBinary* binary = nullptr;
  std::string name;
  CUfunction function = nullptr;
};

class Registry {
 public:
  static Registry& instance() {
    static auto* registry = new Registry();  // used until the process ends
    return *registry;
  }

  void** add(const void* wrapper) {
    const std::lock_guard lock(mutex_);
    binaries_.push_back(std::make_unique<RegisteredBinary>());
    binaries_.back()->wrapper = wrapper;
    return reinterpret_cast<void**>(binaries_.back().get());
  }
  void add_function(void** binary, const void* host, const char* name) {
    const std::lock_guard lock(mutex_);
    functions_[host] = {reinterpret_cast<RegisteredBinary*>(binary), name, nullptr};
  }
  void add_variable(void** binary, const void* host, const char* name) {
    const std::lock_guard lock(mutex_);
    variables_[host] = {reinterpret_cast<RegisteredBinary*>(binary), name, nullptr};
  }
  void add_managed(void** binary, void** host, const char* name) {
    const std::lock_guard lock(mutex_);
    reinterpret_cast<RegisteredBinary*>(binary)->managed.emplace_back(host, name);
    variables_[host] = {reinterpret_cast<RegisteredBinary*>(binary), name, nullptr};
  }

  CUresult function(const void* host, CUfunction* function) {
    const std::lock_guard lock(mutex_);
    const auto at = functions_.find(host);
    if (at == functions_.end()) return static_cast<CUresult>(cudaErrorInvalidDeviceFunction);
    RegisteredSymbol& symbol = at->second;
    CUmodule module = nullptr;
    if (symbol.function == nullptr || cuFuncGetModule(&module, symbol.function) != CUDA_SUCCESS) {
      if (const CUresult loaded = load(*symbol.binary); loaded != CUDA_SUCCESS) return loaded;
      const CUresult found = cuModuleGetFunction(&symbol.function, symbol.binary->module, symbol.name.c_str());
      if (found != CUDA_SUCCESS) return found;
    }
    *function = symbol.function;
    return CUDA_SUCCESS;
  }

  // The address of the host that a function was registered for; nullptr: none.
  const void* host_of(CUfunction function) {
    const std::lock_guard lock(mutex_);
    for (const auto& [host, symbol] : functions_) {
      if (symbol.function == function) return host;
    }
    return nullptr;
  }

  CUresult variable(const void* host, CUdeviceptr* address, std::size_t* bytes) {
    const std::lock_guard lock(mutex_);
    const auto at = variables_.find(host);
    if (at == variables_.end()) return static_cast<CUresult>(cudaErrorInvalidSymbol);
    if (const CUresult loaded = load(*at->second.binary); loaded != CUDA_SUCCESS) return loaded;
    return cuModuleGetGlobal_v2(address, bytes, at->second.binary->module, at->second.name.c_str());
  }

  // Loads every binary with managed variables: the host may use these before any kernel.
  void load_managed() {
    const std::lock_guard lock(mutex_);
    for (const auto& binary : binaries_) {
      if (!binary->managed.empty()) (void)load(*binary);
    }
  }

  void forget(void** handle) {
    const std::lock_guard lock(mutex_);
    auto* binary = reinterpret_cast<RegisteredBinary*>(handle);
    std::erase_if(functions_, [&](const auto& f) { return f.second.binary == binary; });
    std::erase_if(variables_, [&](const auto& v) { return v.second.binary == binary; });
    std::erase_if(binaries_, [&](const auto& b) { return b.get() == binary; });
  }

 private:
  // A forked child unregisters its binaries when it exits, so that no other thread may hold the mutex at the fork.
  Registry() {
    const auto unlock = [] { instance().mutex_.unlock(); };
    ::pthread_atfork([] { instance().mutex_.lock(); }, unlock, unlock);
  }

  // A module ends with its context, which the program may have reset; it is then loaded again. So is one that could not
  // be loaded, because memory was missing or the context had failed.
  static CUresult load(RegisteredBinary& binary) {
    unsigned kernels = 0;
    if (binary.module != nullptr && cuModuleGetFunctionCount(&kernels, binary.module) == CUDA_SUCCESS)
      return CUDA_SUCCESS;
    if (const CUresult loaded = cuModuleLoadData(&binary.module, binary.wrapper); loaded != CUDA_SUCCESS) return loaded;
    for (const auto& [host, name] : binary.managed) {
      CUdeviceptr address = 0;
      if (cuModuleGetGlobal_v2(&address, nullptr, binary.module, name.c_str()) == CUDA_SUCCESS) {
        *host = reinterpret_cast<void*>(address);
      }
    }
    return CUDA_SUCCESS;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<RegisteredBinary>> binaries_;
  std::map<const void*, RegisteredSymbol> functions_;
  std::map<const void*, RegisteredSymbol> variables_;
};

struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared_bytes;
  CUstream stream;
};

std::vector<CallConfiguration>& call_configurations() {
  return cuda::LastingThreadObject<std::vector<CallConfiguration>, struct CallConfigurationsTag>::get();
}

}  // namespace

CUresult find_function(const void* host, CUfunction* function) { return Registry::instance().function(host, function); }

const void* host_of(CUfunction function) { return Registry::instance().host_of(function); }

CUresult find_variable(const void* host, CUdeviceptr* address, std::size_t* bytes) {
  return Registry::instance().variable(host, address, bytes);
}

}  // namespace wm::cudart

using wm::cudart::Registry;

WM_RUNTIME_API void** __cudaRegisterFatBinary(void* wrapper) { return Registry::instance().add(wrapper); }
WM_RUNTIME_API void __cudaRegisterFatBinaryEnd(void**) {}
WM_RUNTIME_API void __cudaUnregisterFatBinary(void** binary) { Registry::instance().forget(binary); }
WM_RUNTIME_API void __cudaRegisterFunction(void** binary, const char* host, char*, const char* name, int, void*, void*,
                                           void*, void*, int*) {
  Registry::instance().add_function(binary, host, name);
}
WM_RUNTIME_API void __cudaRegisterVar(void** binary, char* host, char*, const char* name, int, std::size_t, int, int) {
  Registry::instance().add_variable(binary, host, name);
}
WM_RUNTIME_API void __cudaRegisterManagedVar(void** binary, void** host, char*, const char* name, int, std::size_t, int,
                                             int) {
  Registry::instance().add_managed(binary, host, name);
}
WM_RUNTIME_API char __cudaInitModule(void**) {
  if (wm::cudart::prepare() == CUDA_SUCCESS) Registry::instance().load_managed();
  return 1;
}

WM_RUNTIME_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream stream) {
  wm::cudart::call_configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}
WM_RUNTIME_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                                      CUstream* stream) {
  auto& configurations = wm::cudart::call_configurations();
  if (configurations.empty()) return wm::cudart::remember(cudaErrorMissingConfiguration);
  const auto last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  return cudaSuccess;
}

// The function behind cudaSetQoS of include/warpmux.h.
extern "C" int warpmux_set_goal(const char* kernel, double ipc);
WM_RUNTIME_API int warpmux_set_kernel_goal(const void* host, double ipc) {
  CUfunction function = nullptr;
  const char* name = nullptr;
  if (wm::cudart::prepare() != CUDA_SUCCESS || wm::cudart::find_function(host, &function) != CUDA_SUCCESS) return 0;
  return cuFuncGetName(&name, function) == CUDA_SUCCESS ? warpmux_set_goal(name, ipc) : 0;
}

WM_RUNTIME_API cudaError_t cudaDeviceReset() {
  if (const CUresult ready = wm::cudart::prepare(); ready != CUDA_SUCCESS) return wm::cudart::remember(ready);
  const CUresult result = cuDevicePrimaryCtxReset_v2(0);
  (void)cuCtxSetCurrent(nullptr);
  wm::cudart::last_error() = cudaSuccess;
  return result;
}
