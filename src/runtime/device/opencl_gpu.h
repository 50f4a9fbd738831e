// An OpenCL device with memory of its own, as NVIDIA's driver offers it.
#pragma once

#include "runtime/device/opencl_backend.h"

namespace wm::runtime {

class OpenClGpu final : public OpenClBackend {
 public:
  explicit OpenClGpu(std::unique_ptr<Native> native);
  ~OpenClGpu() override;

  std::unique_ptr<ControlWordPool> make_control_words() override;
  std::unique_ptr<CompletionFlags> make_completion_flags() override;

 protected:
  void keep_probe_kernel(cl_kernel kernel) override { probe_kernel_ = kernel; }
  [[nodiscard]] bool probe_kernel_runs(cl_command_queue queue, cl_mem memory) const override;

 private:
  const NativeCalls& cl_;
  cl_kernel probe_kernel_ = nullptr;
};

}  // namespace wm::runtime
