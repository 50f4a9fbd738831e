// Our own compiler, for devices without NVIDIA's OpenCL.
#include <fmt/format.h>

#include "base/file.h"
#include "rewrite/wire.h"
#include "runtime/device/cuda/clang_compilation.h"
#include "runtime/device/cuda/clang_device_info.h"
#include "runtime/device/cuda/front_end.h"

namespace wm::runtime::cuda {
namespace {

// Part of the key of everything that is stored about compiled programs.
constexpr int kVersion = 1;

std::string version_of(const rewrite::PtxCompilerOptions& options) {
  const auto library = read_file(options.library);
  return fmt::format("wm-compile {} {} {:016x}", kVersion, options.target, library ? rewrite::digest(*library) : 0);
}

class ClangFrontEnd final : public FrontEnd {
 public:
  ClangFrontEnd(const DeviceFacts& facts, rewrite::PtxCompilerOptions options)
      : facts_(facts), version_(version_of(options)), compilation_(std::move(options)) {}

  Compilation& compilation() override { return compilation_; }
  Status device_info(std::uint32_t name, std::vector<std::byte>& answer) const override {
    return clang_device_info(facts_, name, answer);
  }
  [[nodiscard]] std::string platform_name() const override { return "NVIDIA CUDA"; }
  [[nodiscard]] std::string compiler_name() const override { return "clang 19 with libclc"; }
  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] bool always_argument_info() override { return true; }
  [[nodiscard]] bool reports_registers() const override { return false; }
  [[nodiscard]] bool has_own_process() const override { return true; }

 private:
  const DeviceFacts facts_;
  const std::string version_;
  ClangCompilation compilation_;
};

// The newest GPU that LLVM 19 knows and whose code the device runs.
std::string target_of(const DeviceFacts& facts) {
  const int device = facts.compute_major * 10 + facts.compute_minor;
  int target = 70;
  for (const int known : {72, 75, 80, 86, 87, 89, 90}) {
    if (known <= device) target = known;
  }
  return fmt::format("sm_{}", target);
}

}  // namespace

Result<std::unique_ptr<FrontEnd>> open_clang(const DeviceFacts& facts) {
  rewrite::PtxCompilerOptions options{
      .program = rewrite::find_compiler(), .library = rewrite::find_builtin_library(), .target = target_of(facts)};
  if (options.program.empty()) return Error{"wm-compile was not found: it is built where libclang-cpp19-dev is"};
  if (options.library.empty()) return Error{"OpenCL's built-in functions were not found: apt install libclc-19"};
  return std::unique_ptr<FrontEnd>(std::make_unique<ClangFrontEnd>(facts, std::move(options)));
}

}  // namespace wm::runtime::cuda
