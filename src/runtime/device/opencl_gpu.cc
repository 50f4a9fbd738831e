#include "runtime/device/opencl_gpu.h"

#include "runtime/device/opencl_completion_flags.h"
#include "runtime/device/opencl_device_words.h"

namespace wm::runtime {
namespace {

constexpr Capabilities gpu_capabilities() {
  Capabilities c;
  c.costly_events = true;
  c.queues_excess_groups = true;
  c.prefers_blocking_transfers = true;
  c.release_waits_for_kernels = true;
  c.printf_needs_finish = true;
  return c;
}

}  // namespace

// Device memory is wiped when it is released, so that new objects need no zeros.
OpenClGpu::OpenClGpu(std::unique_ptr<Native> device)
    : OpenClBackend(std::move(device), gpu_capabilities(), 0), cl_(native().cl) {}

OpenClGpu::~OpenClGpu() {
  if (probe_kernel_ != nullptr) cl_.ReleaseKernel(probe_kernel_);
}

bool OpenClGpu::probe_kernel_runs(cl_command_queue queue, cl_mem memory) const {
  if (probe_kernel_ == nullptr) return true;
  const std::size_t one = 1;
  if (cl_.EnqueueNDRangeKernel(queue, probe_kernel_, 1, nullptr, &one, &one, 0, nullptr, nullptr) != CL_SUCCESS) {
    return false;
  }
  cl_int written = 0;
  const cl_int status = cl_.EnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof written, &written, 0, nullptr, nullptr);
  return status == CL_SUCCESS && written == 1;
}

std::unique_ptr<ControlWordPool> OpenClGpu::make_control_words() {
  return std::make_unique<OpenClDeviceWords>(native());
}

std::unique_ptr<CompletionFlags> OpenClGpu::make_completion_flags() {
  return std::make_unique<OpenClCompletionFlags>(native());
}

}  // namespace wm::runtime
