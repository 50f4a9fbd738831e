// Launches kernels whose functions are empty (empty_kernels.cc), so that a driver that compiles at launch compiles them
// and nothing is executed. Used in the process wm-sandbox only.
#pragma once

#include <optional>

#include "runtime/device/opencl_native.h"
#include "runtime/sandbox/request.h"

namespace wm::runtime::sandbox {

class LaunchPrecompiler {
 public:
  explicit LaunchPrecompiler(const Native& native) : native_(native) {}

  // The driver's result; kNoDevice where kernels would be executed.
  cl_int precompile(cl_program program, const SandboxLaunch& launch);

 private:
  cl_int launch_kernel(const SandboxLaunch& launch, cl_kernel kernel, cl_command_queue queue);
  [[nodiscard]] bool kernels_are_empty() const;

  const Native& native_;
  std::optional<bool> kernels_are_empty_;  // tested at the first launch
};

}  // namespace wm::runtime::sandbox
