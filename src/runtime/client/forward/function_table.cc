#include "runtime/client/forward/function_table.h"

#include <mutex>

#include "runtime/client/forward/green_contexts.h"
#include "runtime/client/forward/memory_calls.h"
#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

FunctionTable& FunctionTable::get() {
  static auto* table = new FunctionTable;
  return *table;
}

void FunctionTable::add(const void* handle, HandleKind kind, const void* owner) {
  const std::unique_lock lock(mutex_);
  // The function of a kernel belongs to the kernel's library.
  const auto parent = entries_.find(owner);
  const void* root = parent != entries_.end() && kind == HandleKind::function ? parent->second.owner : owner;
  // One handle may be both, where a driver makes no difference.
  entries_.insert_or_assign(handle, Entry{kind, root});
}

void FunctionTable::remove_owner(const void* owner) {
  const std::unique_lock lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.owner == owner; });
  ++generation_;
}

void FunctionTable::forget_functions() {
  const std::unique_lock lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) { return entry.second.kind == HandleKind::function; });
  ++generation_;
}

std::optional<HandleKind> FunctionTable::kind(const void* handle) const {
  const std::shared_lock lock(mutex_);
  const auto at = entries_.find(handle);
  if (at == entries_.end()) return std::nullopt;
  return at->second.kind;
}

unsigned FunctionTable::generation() const {
  const std::shared_lock lock(mutex_);
  return generation_;
}

}  // namespace wm::forward

using wm::forward::FunctionTable;
using wm::forward::HandleKind;
using wm::forward::real;

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const auto call = real().cuModuleGetFunction;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(function, module, name);
  if (result == CUDA_SUCCESS) FunctionTable::get().add(*function, HandleKind::function, module);
  return result;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const auto call = real().cuLibraryGetKernel;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(kernel, library, name);
  if (result == CUDA_SUCCESS) FunctionTable::get().add(*kernel, HandleKind::kernel, library);
  return result;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const auto call = real().cuKernelGetFunction;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(function, kernel);
  if (result == CUDA_SUCCESS) FunctionTable::get().add(*function, HandleKind::function, kernel);
  return result;
}

CUresult cuModuleUnload(CUmodule module) {
  const auto call = real().cuModuleUnload;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().remove_owner(module);
  return call(module);
}

CUresult cuLibraryUnload(CUlibrary library) {
  const auto call = real().cuLibraryUnload;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().remove_owner(library);
  return call(library);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  const auto call = real().cuCtxDestroy_v2;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().forget_functions();
  const CUresult result = call(context);
  if (result == CUDA_SUCCESS) wm::forward::forget_memory_of(context);
  return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const auto call = real().cuDevicePrimaryCtxRelease_v2;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().forget_functions();
  wm::forward::GreenContexts::get().primary_released(device);
  const CUresult result = call(device);
  unsigned flags = 0;
  int is_active = 1;
  const auto state = real().cuDevicePrimaryCtxGetState;
  if (result == CUDA_SUCCESS && state != nullptr && state(device, &flags, &is_active) == CUDA_SUCCESS && is_active == 0)
    wm::forward::forget_memory_of_primary(device);
  return result;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const auto call = real().cuDevicePrimaryCtxReset_v2;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().forget_functions();
  wm::forward::GreenContexts::get().forget(device);
  const CUresult result = call(device);
  if (result == CUDA_SUCCESS) wm::forward::forget_memory_of_primary(device);
  return result;
}
