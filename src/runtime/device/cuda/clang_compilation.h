// Programs and kernels of our own compiler (rewrite/ptx_compiler.h). Nothing is executed here: the CUDA driver loads
// the PTX.
#pragma once

#include <mutex>

#include "rewrite/ptx_compiler.h"
#include "runtime/device/backend.h"

namespace wm::runtime::cuda {

class ClangCompilation final : public Compilation {
 public:
  explicit ClangCompilation(rewrite::PtxCompilerOptions options) : compiler_(std::move(options)) {}

  Made<ProgramHandle> program_from_source(std::string_view source) override;
  // A binary is what `binary` returned.
  Made<ProgramHandle> program_from_binary(std::string_view binary) override;
  Status build(const ProgramObject& program, const std::string& options) override;
  Status compile(const ProgramObject& program, const std::string& options, std::span<const Header> headers) override;
  Made<ProgramHandle> link(std::span<const ProgramHandle> inputs, const std::string& options) override;
  [[nodiscard]] bool build_failed(const ProgramObject& program) const override;
  [[nodiscard]] BinaryType binary_type(const ProgramObject& program) const override;
  Status binary(const ProgramObject& program, std::string& answer) const override;
  [[nodiscard]] std::string build_log(const ProgramObject& program) const override;
  [[nodiscard]] std::optional<std::string> kernel_names(const ProgramObject& program) const override;
  Status program_info(const ProgramObject& program, PropertyName name, std::vector<std::byte>& answer) const override;
  Status build_info(const ProgramObject& program, PropertyName name, std::vector<std::byte>& answer) const override;
  Made<KernelHandle> create_kernel(const ProgramObject& program, const std::string& name) override;
  [[nodiscard]] KernelInfo properties(const KernelObject& kernel) const override;
  Status kernel_info(const KernelObject& kernel, PropertyName name, std::vector<std::byte>& answer) const override;
  Status argument_info(const KernelObject& kernel, std::uint32_t index, PropertyName name,
                       std::vector<std::byte>& answer) const override;
  // Answers about the loaded kernel are the driver's, and are not known here.
  Status group_info(const KernelObject& kernel, PropertyName name, std::vector<std::byte>& answer) const override;

 private:
  rewrite::PtxCompiler compiler_;
};

}  // namespace wm::runtime::cuda
