// Contexts.
#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/interface/lasting_thread_object.h"

namespace wm::cuda {

std::vector<CUcontext>& context_stack() {
  return LastingThreadObject<std::vector<CUcontext>, struct ContextStackTag>::get();
}

bool& is_in_host_function() {
  thread_local bool is_in = false;
  return is_in;
}

std::shared_ptr<Context> current_context() {
  Driver* driver = Driver::get();
  const auto& contexts = context_stack();
  return driver == nullptr || contexts.empty() ? nullptr : driver->contexts.find(contexts.back());
}

namespace {

constexpr unsigned kMapHost = 8;
constexpr int kMallocHeapSize = 2;  // CU_LIMIT_MALLOC_HEAP_SIZE

CUresult create_context(CUcontext* context, unsigned flags, CUdevice device) {
  return with_driver([&](Driver& driver) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device != kDevice) return CUDA_ERROR_INVALID_DEVICE;
    *context = driver.contexts.add(std::make_shared<Context>(driver, flags, false, driver.next_id()));
    context_stack().push_back(*context);
    return CUDA_SUCCESS;
  });
}

template <typename Body>
CUresult with_primary(CUdevice device, Body&& body) {
  return with_driver([&](Driver& driver) {
    if (device != kDevice) return CUDA_ERROR_INVALID_DEVICE;
    return std::forward<Body>(body)(driver);
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::context_stack;
using wm::cuda::Driver;
using wm::cuda::with_context;
using wm::cuda::with_driver;
using wm::cuda::with_primary;

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return with_primary(device, [&](Driver& driver) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = driver.retain_primary().get();
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return with_primary(device, [](Driver& driver) { return driver.release_primary(); });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return with_primary(device, [&](Driver& driver) {
    driver.primary_flags = flags;
    if (const auto primary = driver.primary()) primary->flags = flags;
    return CUDA_SUCCESS;
  });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return with_primary(device, [&](Driver& driver) {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto primary = driver.primary();
    *active = primary != nullptr ? 1 : 0;
    *flags = driver.primary_flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return with_primary(device, [](Driver& driver) { return driver.reset_primary(); });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return wm::cuda::create_context(context, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* context, void* affinities, int count, unsigned flags, CUdevice device) {
  if (affinities != nullptr || count != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return wm::cuda::create_context(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, void* parameters, unsigned flags, CUdevice device) {
  if (parameters != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return wm::cuda::create_context(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return with_driver([&](Driver& driver) {
    const auto context = driver.contexts.find(handle);
    if (context == nullptr || context->is_primary()) return CUDA_ERROR_INVALID_CONTEXT;
    driver.destroy(context);
    auto& contexts = context_stack();
    if (!contexts.empty() && contexts.back() == handle) contexts.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return with_driver([&](Driver& driver) {
    if (driver.contexts.find(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  return with_driver([&](Driver&) {
    auto& contexts = context_stack();
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle != nullptr) *handle = contexts.back();
    contexts.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  return with_driver([&](Driver& driver) {
    auto& contexts = context_stack();
    if (handle == nullptr) {
      if (!contexts.empty()) contexts.pop_back();
      return CUDA_SUCCESS;
    }
    if (driver.contexts.find(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (contexts.empty()) contexts.push_back(handle);
    contexts.back() = handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return with_driver([&](Driver&) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *handle = context_stack().empty() ? nullptr : context_stack().back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return with_driver([&](Driver&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (wm::cuda::current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *device = wm::cuda::kDevice;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return with_driver([&](Driver& driver) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (driver.contexts.find(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *device = wm::cuda::kDevice;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return with_context([&](Context& context) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags | wm::cuda::kMapHost;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return with_context([&](Context& context) {
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return with_driver([&](Driver& driver) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto context = handle == nullptr ? wm::cuda::current_context() : driver.contexts.find(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *id = context->id();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return with_context([](Context& context) { return context.synchronize(); });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return with_driver([&](Driver& driver) {
    const auto context = driver.contexts.find(handle);
    return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : context->synchronize();
  });
}

CUresult cuCtxSetLimit(int limit, std::size_t value) {
  return with_context([&](Context& context) {
    if (limit < 0 || limit >= static_cast<int>(context.limits.size())) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (limit == wm::cuda::kMallocHeapSize) {
      Driver& driver = wm::cuda::driver_of(context);
      if (value > driver.memory().total_bytes()) return CUDA_ERROR_OUT_OF_MEMORY;
      if (!driver.memory().set_heap_bytes(value, driver.config().sm.count, &context)) return CUDA_ERROR_INVALID_VALUE;
    }
    context.limits[static_cast<std::size_t>(limit)] = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetLimit(std::size_t* value, int limit) {
  return with_context([&](Context& context) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (limit < 0 || limit >= static_cast<int>(context.limits.size())) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = context.limits[static_cast<std::size_t>(limit)];
    return CUDA_SUCCESS;
  });
}

// Preferences for caches and banks are accepted and have no effect.
CUresult cuCtxGetCacheConfig(int* config) {
  return with_context([&](Context&) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = 0;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxSetCacheConfig(int) {
  return with_context([](Context&) { return CUDA_SUCCESS; });
}
CUresult cuCtxGetSharedMemConfig(int* config) { return cuCtxGetCacheConfig(config); }
CUresult cuCtxSetSharedMemConfig(int) {
  return with_context([](Context&) { return CUDA_SUCCESS; });
}
CUresult cuCtxResetPersistingL2Cache() {
  return with_context([](Context&) { return CUDA_SUCCESS; });
}

CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  return with_driver([&](Driver&) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return with_context([&](Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return with_context([](Context&) { return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; });
}
CUresult cuCtxDisablePeerAccess(CUcontext) {
  return with_context([](Context&) { return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; });
}
