// Executes a request with the device's own driver, in the process wm-sandbox: a crash of the driver ends only that
// process.
#pragma once

#include <string>

#include "runtime/device/opencl_native.h"
#include "runtime/sandbox/launch_precompiler.h"
#include "runtime/sandbox/request.h"

namespace wm::runtime::sandbox {

class RequestRunner {
 public:
  explicit RequestRunner(const Native& native) : native_(native), precompiler_(native) {}

  // The driver's result.
  cl_int run(const Request& request);

 private:
  // Builds the programs of the request; keeps the last result for further launches of the same program.
  cl_int build(const Request& request);

  const Native& native_;
  LaunchPrecompiler precompiler_;
  Native_<cl_program> program_;
  std::string built_from_;  // the encoded request that `program_` was built for
};

}  // namespace wm::runtime::sandbox
