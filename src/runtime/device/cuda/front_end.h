// The compiler that turns a client's OpenCL C into PTX, and answers the queries of OpenCL about device and programs.
#pragma once

#include <memory>

#include "runtime/device/backend.h"
#include "runtime/device/cuda/device.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime::cuda {

class FrontEnd {
 public:
  FrontEnd() = default;
  virtual ~FrontEnd() = default;
  FrontEnd(const FrontEnd&) = delete;
  FrontEnd& operator=(const FrontEnd&) = delete;

  // Its program binaries are PTX.
  virtual Compilation& compilation() = 0;
  virtual Status device_info(std::uint32_t name, std::vector<std::byte>& answer) const = 0;
  [[nodiscard]] virtual std::string platform_name() const = 0;
  // For people.
  [[nodiscard]] virtual std::string compiler_name() const = 0;
  // Everything that a compiled program depends on.
  [[nodiscard]] virtual std::string version() const = 0;
  // Kernels report their parameters without being built for it.
  [[nodiscard]] virtual bool always_argument_info() = 0;
  [[nodiscard]] virtual bool reports_registers() const = 0;
  // Kernels may have images; the formats are those that the compiler's driver has, as clGetSupportedImageFormats gives
  // them.
  [[nodiscard]] virtual bool has_images() const { return false; }
  virtual Status image_formats(MemoryFlags /*flags*/, ImageType /*type*/, std::vector<std::byte>& answer) const {
    answer.clear();
    return status::kSuccess;
  }
  // The compiler runs in a process of its own, so that a program that crashes it ends nothing else.
  [[nodiscard]] virtual bool has_own_process() const { return false; }
};

// NVIDIA's OpenCL, used as a compiler only. An error: the driver is another one.
Result<std::unique_ptr<FrontEnd>> make_nvidia_opencl(std::unique_ptr<Native> native);
Result<std::unique_ptr<FrontEnd>> open_nvidia_opencl(const std::string& device);
// Our own compiler (rewrite/ptx_compiler.h). An error: it, or the built-in functions, are not installed.
Result<std::unique_ptr<FrontEnd>> open_clang(const DeviceFacts& facts);

}  // namespace wm::runtime::cuda
