// Modules, libraries, kernels and their attributes.
#include <cstring>

#include "base/file.h"
#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/api/device_attributes.h"
#include "runtime/client/cuda/api/load_image.h"

namespace wm::cuda {
namespace {

template <typename Body>
CUresult with_module(CUmodule handle, Body&& body) {
  return with_driver([&](Driver& driver) {
    const auto module = driver.modules.find(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return std::forward<Body>(body)(driver, *module);
  });
}

template <typename Body>
CUresult with_library(CUlibrary handle, Body&& body) {
  return with_driver([&](Driver& driver) {
    const auto library = driver.libraries.find(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return std::forward<Body>(body)(driver, *library);
  });
}

template <typename Body>
CUresult with_function(CUfunction handle, Body&& body) {
  return with_driver([&](Driver& driver) {
    const auto function = driver.functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return std::forward<Body>(body)(driver, *function);
  });
}

CUresult get_function(Driver& driver, Module& module, const char* name, CUfunction* function) {
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!module.loaded().has_kernel(name)) {
    if (module.left_out.empty()) return CUDA_ERROR_NOT_FOUND;
    explain(module.left_out);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  auto found = module.function(name);
  if (!found) {
    explain(found.error().to_string());
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  *function = found->get();
  if (driver.functions.find(*function) == nullptr) driver.functions.add(*found);
  return CUDA_SUCCESS;
}

CUresult get_global(Module& module, const char* name, CUdeviceptr* address, std::size_t* bytes) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto variable = module.loaded().variable(name);
  if (!variable) return CUDA_ERROR_NOT_FOUND;
  if (address != nullptr) *address = variable->address;
  if (bytes != nullptr) *bytes = variable->bytes;
  return CUDA_SUCCESS;
}

CUresult enumerate(Driver& driver, Module& module, CUfunction* functions, unsigned count) {
  if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto names = module.loaded().kernel_names();
  for (std::size_t i = 0; i < names.size() && i < count; ++i) {
    if (const CUresult got = get_function(driver, module, names[i].c_str(), &functions[i]); got != CUDA_SUCCESS)
      return got;
  }
  return CUDA_SUCCESS;
}

int max_threads(const Driver& driver, const runtime::LoadedKernel& kernel) {
  const auto& largest = kernel.program->largest_block;
  const auto& required = kernel.program->required_block;
  if (required[0] != 0) return static_cast<int>(required[0] * required[1] * required[2]);
  if (largest[0] != 0) return static_cast<int>(largest[0] * largest[1] * largest[2]);
  const auto registers = std::max(1U, kernel.registers_per_thread);
  const int fit = static_cast<int>(driver.config().sm.registers / registers / 32 * 32);
  return std::min(kMaxThreadsPerBlock, fit);
}

// The architecture that the PTX was written for: 75 for sm_75.
int ptx_architecture(const ptx::Module& module) {
  constexpr std::size_t kPrefix = 3;
  if (module.targets.empty() || module.targets[0].size() <= kPrefix) return 0;
  return std::atoi(module.targets[0].c_str() + kPrefix);
}

CUresult function_attribute(const Driver& driver, const Function& f, CUfunction_attribute attribute, int* value) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto& module = f.module->loaded().module();
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = max_threads(driver, *f.kernel);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(f.kernel->program->static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
      std::uint64_t bytes = 0;
      for (const auto& v : module.variables) bytes += v.space == ptx::Space::constant ? v.bytes() : 0;
      *value = static_cast<int>(bytes);
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(f.kernel->program->local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(f.kernel->registers_per_thread);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = ptx_architecture(module);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = compute_capability(driver.config());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = max_dynamic_shared(f);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = f.carveout;
      return CUDA_SUCCESS;
    default:
      if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
      *value = 0;  // clusters
      return CUDA_SUCCESS;
  }
}

CUresult set_attribute(const Driver& driver, Function& f, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const auto used = static_cast<int>(f.kernel->program->static_shared_bytes);
    if (value < 0 || value > static_cast<int>(driver.config().sm.shared_memory) - used) return CUDA_ERROR_INVALID_VALUE;
    f.max_dynamic_shared = value;
    return CUDA_SUCCESS;
  }
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
    f.carveout = value;
    return CUDA_SUCCESS;
  }
  return attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult parameter_info(const Function& f, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const auto& parameters = f.kernel->program->parameters;
  if (offset == nullptr || index >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].offset;
  if (bytes != nullptr) *bytes = parameters[index].bytes;
  return CUDA_SUCCESS;
}

void forget_module(Driver& driver, const Module& module) {
  driver.textures.forget(&module);
  driver.functions.remove_if([&](const Function& f) { return f.module == &module; });
}

CUresult load_module(CUmodule* handle, const void* image) {
  return with_context([&](Context& context) {
    if (handle == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Module> module;
    if (const CUresult loaded = load_image(context, image, module); loaded != CUDA_SUCCESS) return loaded;
    *handle = driver_of(context).modules.add(std::move(module));
    return CUDA_SUCCESS;
  });
}

// A library belongs to no context; its module lives in the primary one, or the current one where there is none.
CUresult load_library(CUlibrary* handle, const void* image) {
  return with_driver([&](Driver& driver) {
    if (handle == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto context = current_context();
    if (context == nullptr) context = driver.primary();
    if (context == nullptr) context = driver.retain_primary();
    std::shared_ptr<Module> module;
    if (const CUresult loaded = load_image(*context, image, module); loaded != CUDA_SUCCESS) return loaded;
    driver.modules.add(module);
    *handle = driver.libraries.add(std::make_shared<Library>(std::move(module)));
    return CUDA_SUCCESS;
  });
}

}  // namespace

int max_dynamic_shared(const Function& function) {
  const int chosen = function.max_dynamic_shared;
  if (chosen != 0) return chosen;
  return std::max(0, kSharedWithoutOptIn - static_cast<int>(function.kernel->program->static_shared_bytes));
}

}  // namespace wm::cuda

using wm::cuda::Driver;
using wm::cuda::Function;
using wm::cuda::Library;
using wm::cuda::Module;
using wm::cuda::with_driver;
using wm::cuda::with_function;
using wm::cuda::with_library;
using wm::cuda::with_module;

CUresult cuModuleLoadData(CUmodule* module, const void* image) { return wm::cuda::load_module(module, image); }
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) { return wm::cuda::load_module(module, image); }
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options, void** values) {
  const CUresult result = wm::cuda::load_module(module, image);
  wm::cuda::answer_jit_options(count, options, values);
  return result;
}

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto text = wm::read_file(file);
  return text ? wm::cuda::load_module(module, text->c_str()) : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult cuModuleUnload(CUmodule handle) {
  return with_driver([&](Driver& driver) {
    const auto module = driver.modules.remove(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const CUresult result = module->context->drain();
    wm::cuda::forget_module(driver, *module);
    return result;
  });
}

CUresult cuModuleGetLoadingMode(int* mode) {
  return with_driver([&](Driver&) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = 2;  // lazy: kernels are decoded when they are first used
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return with_module(handle,
                     [&](Driver& d, Module& module) { return wm::cuda::get_function(d, module, name, function); });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return with_module(handle, [&](Driver&, Module& module) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(module.loaded().kernel_names().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  return with_module(handle,
                     [&](Driver& d, Module& module) { return wm::cuda::enumerate(d, module, functions, count); });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule handle, const char* name) {
  return with_module(handle,
                     [&](Driver&, Module& module) { return wm::cuda::get_global(module, name, address, bytes); });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, int* jit_options, void** jit_values,
                           unsigned jit_count, int*, void**, unsigned) {
  const CUresult result = wm::cuda::load_library(library, code);
  wm::cuda::answer_jit_options(jit_count, jit_options, jit_values);
  return result;
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, int*, void**, unsigned, int*, void**, unsigned) {
  if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto text = wm::read_file(file);
  return text ? wm::cuda::load_library(library, text->c_str()) : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult cuLibraryUnload(CUlibrary handle) {
  return with_driver([&](Driver& driver) {
    const auto library = driver.libraries.remove(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return cuModuleUnload(library->module.get());
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  return with_library(handle,
                      [&](Driver& d, Library& l) { return wm::cuda::get_function(d, *l.module, name, kernel); });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  return with_library(handle, [&](Driver&, Library& l) { return cuModuleGetFunctionCount(count, l.module.get()); });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary handle) {
  return with_library(handle, [&](Driver& d, Library& l) { return wm::cuda::enumerate(d, *l.module, kernels, count); });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary handle) {
  return with_library(handle, [&](Driver&, Library& l) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = l.module.get();
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary handle, const char* name) {
  return with_library(handle,
                      [&](Driver&, Library& l) { return wm::cuda::get_global(*l.module, name, address, bytes); });
}
CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary handle, const char* name) {
  return cuLibraryGetGlobal(address, bytes, handle, name);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return with_function(kernel, [&](Driver&, Function&) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *function = kernel;
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return with_function(kernel, [&](Driver& driver, Function& f) {
    if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *library = nullptr;
    driver.libraries.for_each([&](Library& l) {
      if (l.module.get() == f.module) *library = &l;
    });
    return *library == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
  return cuFuncSetAttribute(kernel, attribute, value);
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, int config, CUdevice) { return cuFuncSetCacheConfig(kernel, config); }
CUresult cuKernelGetName(const char** name, CUkernel kernel) { return cuFuncGetName(name, kernel); }
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return cuFuncGetParamInfo(kernel, index, offset, bytes);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return with_function(function,
                       [&](Driver& d, Function& f) { return wm::cuda::function_attribute(d, f, attribute, value); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return with_function(function,
                       [&](Driver& d, Function& f) { return wm::cuda::set_attribute(d, f, attribute, value); });
}

CUresult cuFuncSetCacheConfig(CUfunction function, int) {
  return with_function(function, [](Driver&, Function&) { return CUDA_SUCCESS; });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, int) {
  return with_function(function, [](Driver&, Function&) { return CUDA_SUCCESS; });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return with_function(function, [&](Driver&, Function& f) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = f.module;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return with_function(function, [&](Driver&, Function& f) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = f.name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return with_function(function,
                       [&](Driver&, Function& f) { return wm::cuda::parameter_info(f, index, offset, bytes); });
}

CUresult cuFuncIsLoaded(int* state, CUfunction function) {
  return with_function(function, [&](Driver&, Function&) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = 1;
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return with_function(function, [](Driver&, Function&) { return CUDA_SUCCESS; });
}
