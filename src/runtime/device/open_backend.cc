// Chooses the backend for a device.
#include <cstdlib>
#include <string_view>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/opencl_cpu.h"
#include "runtime/device/opencl_gpu.h"
#include "runtime/device/worker_tables.h"

namespace wm::runtime {

namespace {

// The CUDA driver runs the programs that NVIDIA's OpenCL compiles. WARPMUX_BACKEND=opencl leaves both to NVIDIA's
// OpenCL.
Result<std::unique_ptr<Backend>> open_cuda(const std::string& text) {
  const char* chosen = std::getenv("WARPMUX_BACKEND");
  if (chosen != nullptr && std::string_view(chosen) == "opencl") return Error{"WARPMUX_BACKEND chooses OpenCL"};
  // Modules are loaded when they are built, not at their first launch, which would wait for running kernels.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const char* library = std::getenv("WARPMUX_LIBCUDA");
  const auto calls = cuda::load_driver(library != nullptr ? library : "libcuda.so.1");
  if (!calls) return calls.error();
  auto front_end = cuda::open_nvidia_opencl(text);
  if (!front_end) return front_end.error();
  auto device = cuda::Device::open(*calls);
  if (!device) return device.error();
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
