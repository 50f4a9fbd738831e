// Chooses the backend for a device.
#include <cstdlib>

#include "runtime/device/opencl_cpu.h"
#include "runtime/device/opencl_gpu.h"

namespace wm::runtime {

Result<std::unique_ptr<Backend>> open_backend(const std::string& text) {
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
