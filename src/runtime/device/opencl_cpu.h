// An OpenCL device that runs on the host's processors and works in its memory, as PoCL does.
#pragma once

#include "runtime/device/opencl_backend.h"

namespace wm::runtime {

class OpenClCpu final : public OpenClBackend {
 public:
  explicit OpenClCpu(std::unique_ptr<Native> native);

  std::unique_ptr<ControlWordPool> make_control_words() override;
  std::unique_ptr<CompletionFlags> make_completion_flags() override;
  [[nodiscard]] std::uint64_t kernel_fault_count() const override;
  [[nodiscard]] std::vector<KernelFault> take_kernel_faults() override;
};

}  // namespace wm::runtime
