// The driver's functions that load and unload code, and that return kernels.
#include "runtime/client/forward/code_table.h"
#include "runtime/client/forward/function_table.h"
#include "runtime/client/forward/real_driver.h"
#include "runtime/client/forward/rewritten_kernels.h"

namespace wm::forward {
namespace {

// A module or library ends.
void forget_code_of(const void* owner) {
  RewrittenKernels::get().forget_owner(owner);
  CodeTable::get().remove(owner);
  FunctionTable::get().remove_owner(owner);
}

}  // namespace
}  // namespace wm::forward

using wm::forward::CodeOwner;
using wm::forward::CodeTable;
using wm::forward::FunctionTable;
using wm::forward::HandleKind;
using wm::forward::real;

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  const auto call = real().cuModuleLoad;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(module, file);
  if (result == CUDA_SUCCESS) CodeTable::get().add_file(*module, CodeOwner::module, file);
  return result;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  const auto call = real().cuModuleLoadData;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(module, image);
  if (result == CUDA_SUCCESS) CodeTable::get().add(*module, CodeOwner::module, image);
  return result;
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options, void** values) {
  const auto call = real().cuModuleLoadDataEx;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(module, image, count, options, values);
  if (result == CUDA_SUCCESS) CodeTable::get().add(*module, CodeOwner::module, image);
  return result;
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fat_binary) {
  const auto call = real().cuModuleLoadFatBinary;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(module, fat_binary);
  if (result == CUDA_SUCCESS) CodeTable::get().add(*module, CodeOwner::module, fat_binary);
  return result;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, int* jit_options, void** jit_values,
                           unsigned jit_count, int* options, void** values, unsigned count) {
  const auto call = real().cuLibraryLoadData;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(library, code, jit_options, jit_values, jit_count, options, values, count);
  if (result == CUDA_SUCCESS) CodeTable::get().add(*library, CodeOwner::library, code);
  return result;
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, int* jit_options, void** jit_values,
                               unsigned jit_count, int* options, void** values, unsigned count) {
  const auto call = real().cuLibraryLoadFromFile;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(library, file, jit_options, jit_values, jit_count, options, values, count);
  if (result == CUDA_SUCCESS) CodeTable::get().add_file(*library, CodeOwner::library, file);
  return result;
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  const auto call = real().cuLibraryGetModule;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(module, library);
  if (result == CUDA_SUCCESS) CodeTable::get().add_module_of(*module, library);
  return result;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const auto call = real().cuModuleGetFunction;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(function, module, name);
  if (result == CUDA_SUCCESS) FunctionTable::get().add(*function, HandleKind::function, module, name);
  return result;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const auto call = real().cuLibraryGetKernel;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(kernel, library, name);
  if (result == CUDA_SUCCESS) FunctionTable::get().add(*kernel, HandleKind::kernel, library, name);
  return result;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const auto call = real().cuKernelGetFunction;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(function, kernel);
  if (result == CUDA_SUCCESS) FunctionTable::get().add_function_of(kernel, *function);
  return result;
}

CUresult cuModuleUnload(CUmodule module) {
  const auto call = real().cuModuleUnload;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  wm::forward::forget_code_of(module);
  return call(module);
}

CUresult cuLibraryUnload(CUlibrary library) {
  const auto call = real().cuLibraryUnload;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  wm::forward::forget_code_of(library);
  return call(library);
}
