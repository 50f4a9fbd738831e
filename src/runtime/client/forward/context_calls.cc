// The driver's functions that end contexts.
#include "runtime/client/forward/function_table.h"
#include "runtime/client/forward/green_contexts.h"
#include "runtime/client/forward/memory_calls.h"
#include "runtime/client/forward/real_driver.h"
#include "runtime/client/forward/rewritten_kernels.h"

using wm::forward::FunctionTable;
using wm::forward::real;
using wm::forward::RewrittenKernels;

CUresult cuCtxDestroy_v2(CUcontext context) {
  const auto call = real().cuCtxDestroy_v2;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().forget_functions();
  RewrittenKernels::Pause pause;
  const CUresult result = call(context);
  if (result == CUDA_SUCCESS) wm::forward::forget_memory_of(context);
  if (result == CUDA_SUCCESS) pause.forget(context);
  return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const auto call = real().cuDevicePrimaryCtxRelease_v2;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().forget_functions();
  wm::forward::GreenContexts::get().primary_released(device);
  RewrittenKernels::Pause pause;
  const CUresult result = call(device);
  unsigned flags = 0;
  int is_active = 1;
  const auto state = real().cuDevicePrimaryCtxGetState;
  if (result == CUDA_SUCCESS && state != nullptr && state(device, &flags, &is_active) == CUDA_SUCCESS &&
      is_active == 0) {
    wm::forward::forget_memory_of_primary(device);
    pause.forget_all();
  }
  return result;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const auto call = real().cuDevicePrimaryCtxReset_v2;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  FunctionTable::get().forget_functions();
  wm::forward::GreenContexts::get().forget(device);
  RewrittenKernels::Pause pause;
  const CUresult result = call(device);
  if (result == CUDA_SUCCESS) wm::forward::forget_memory_of_primary(device);
  if (result == CUDA_SUCCESS) pause.forget_all();
  return result;
}
