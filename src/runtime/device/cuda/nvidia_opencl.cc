// NVIDIA's OpenCL as a compiler: nothing runs in its context.
#include <fmt/format.h>

#include "runtime/device/cuda/front_end.h"
#include "runtime/device/opencl_allocation.h"
#include "runtime/device/opencl_compilation.h"

namespace wm::runtime::cuda {
namespace {

class NvidiaOpenCl final : public FrontEnd {
 public:
  explicit NvidiaOpenCl(std::unique_ptr<Native> native) : native_(std::move(native)), compilation_(*native_) {}

  Compilation& compilation() override { return compilation_; }
  Status device_info(std::uint32_t name, std::vector<std::byte>& answer) const override {
    return native_->device_info(name, answer);
  }
  [[nodiscard]] std::string platform_name() const override { return native_->platform_name(); }
  [[nodiscard]] std::string compiler_name() const override { return "NVIDIA's OpenCL"; }
  [[nodiscard]] std::string version() const override {
    return fmt::format("{} {}", native_->text(CL_DRIVER_VERSION), native_->text(CL_DEVICE_VERSION));
  }
  [[nodiscard]] bool always_argument_info() override {
    const auto program = compilation_.program_from_source(kProbe);
    if (!program.object || compilation_.build(*program.object, "") != status::kSuccess) return false;
    const auto kernel = compilation_.create_kernel(*program.object, "probe");
    std::vector<std::byte> answer;
    return kernel.object &&
           compilation_.argument_info(*kernel.object, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, answer) == status::kSuccess;
  }
  [[nodiscard]] bool reports_registers() const override { return true; }
  [[nodiscard]] bool has_images() const override { return true; }
  Status image_formats(MemoryFlags flags, ImageType type, std::vector<std::byte>& answer) const override {
    return runtime::image_formats(*native_, flags, type, answer);
  }

 private:
  const std::unique_ptr<Native> native_;
  OpenClCompilation compilation_;
};

}  // namespace

Result<std::unique_ptr<FrontEnd>> make_nvidia_opencl(std::unique_ptr<Native> native) {
  if (!native->platform_name().starts_with("NVIDIA")) return Error{"no OpenCL of NVIDIA here"};
  return std::unique_ptr<FrontEnd>(std::make_unique<NvidiaOpenCl>(std::move(native)));
}

Result<std::unique_ptr<FrontEnd>> open_nvidia_opencl(const std::string& device) {
  auto native = Native::open({device.empty() ? "NVIDIA" : device});
  if (!native) return native.error();
  return make_nvidia_opencl(std::move(*native));
}

}  // namespace wm::runtime::cuda
