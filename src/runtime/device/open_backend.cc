// Chooses the backend for a device.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/opencl_cpu.h"
#include "runtime/device/opencl_gpu.h"
#include "runtime/device/worker_tables.h"

namespace wm::runtime {

namespace {

bool is_chosen(const char* variable, std::string_view value) {
  const char* chosen = std::getenv(variable);
  return chosen != nullptr && chosen == value;
}

// Our own compiler serves where NVIDIA's OpenCL is not installed. WARPMUX_COMPILER=nvidia or =clang allows only one.
Result<std::unique_ptr<cuda::FrontEnd>> open_front_end(const std::string& text, const cuda::Device& device) {
  Error missing{"WARPMUX_COMPILER chooses clang"};
  if (!is_chosen("WARPMUX_COMPILER", "clang")) {
    auto nvidia = cuda::open_nvidia_opencl(text);
    if (nvidia) return nvidia;
    missing = nvidia.error();
  }
  if (is_chosen("WARPMUX_COMPILER", "nvidia")) return missing;
  if (!contains_ignoring_case("NVIDIA CUDA: " + device.facts().name, text)) return missing;
  auto own = cuda::open_clang(device.facts());
  if (!own)
    std::fprintf(stderr, "wm: no OpenCL compiler for %s: %s\n", device.facts().name.c_str(),
                 (missing.what + "; " + own.error().what).c_str());
  return own;
}

// The CUDA driver runs the programs that NVIDIA's OpenCL or our own compiler makes. WARPMUX_BACKEND=opencl leaves both
// to NVIDIA's OpenCL.
Result<std::unique_ptr<Backend>> open_cuda(const std::string& text) {
  if (is_chosen("WARPMUX_BACKEND", "opencl")) return Error{"WARPMUX_BACKEND chooses OpenCL"};
  // Modules are loaded when they are built, not at their first launch, which would wait for running kernels.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const char* library = std::getenv("WARPMUX_LIBCUDA");
  const auto calls = cuda::load_driver(library != nullptr ? library : "libcuda.so.1");
  if (!calls) return calls.error();
  auto device = cuda::Device::open(*calls);
  if (!device) return device.error();
  auto front_end = open_front_end(text, **device);
  if (!front_end) return front_end.error();
  return std::unique_ptr<Backend>(std::make_unique<cuda::CudaBackend>(std::move(*device), std::move(*front_end)));
}

}  // namespace

std::unique_ptr<WorkerTables> Backend::make_worker_tables() { return nullptr; }

Result<std::unique_ptr<Backend>> open_backend(const std::string& text) {
  if (auto cuda = open_cuda(text); cuda && (*cuda)->is_alive()) return cuda;
  auto native = Native::open({text});
  if (!native) return native.error();
  const bool cpu = ((*native)->fact<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  // A variable for tests: the code for devices with memory of their own, on a CPU.
  const bool as_gpu = !cpu || std::getenv("WARPMUX_OWN_MEMORY") != nullptr;
  std::unique_ptr<Backend> backend;
  if (as_gpu) {
    backend = std::make_unique<OpenClGpu>(std::move(*native));
  } else {
    backend = std::make_unique<OpenClCpu>(std::move(*native));
  }
  if (!backend->is_alive()) return Error{"the device takes no commands"};
  return backend;
}

}  // namespace wm::runtime
