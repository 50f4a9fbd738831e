// Does what is tried, on the device's own driver; this is what may end the process.
#pragma once

#include <optional>

#include "runtime/device/opencl_native.h"
#include "runtime/sandbox/request.h"
#include "runtime/session/objects.h"

namespace wm::runtime::sandbox {

class Answerer {
 public:
  explicit Answerer(const Native& native) : native_(native) {}

  // What the driver said.
  cl_int answer(const Request& request);

 private:
  // The program that is asked for, made anew where it is not the one before.
  cl_int make(const Request& request);
  // A launch of a kernel that does nothing (still.cc): what the driver compiles for it is compiled then. kNoDevice
  // where kernels would do what they say.
  cl_int precompile(const SandboxLaunch& launch);
  cl_int run_still(const SandboxLaunch& launch, cl_kernel kernel, cl_command_queue queue);
  [[nodiscard]] bool kernels_are_still() const;

  const Native& native_;
  Native_<cl_program> program_;
  std::string made_of_;
  std::optional<bool> still_;
};

// What it answers to a Question; the standard's answer where it cannot be asked.
cl_int ask(const Native& native, std::uint32_t question);

}  // namespace wm::runtime::sandbox
