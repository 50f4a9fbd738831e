// Programs and kernels of an OpenCL context.
#pragma once

#include "runtime/device/opencl_objects.h"

namespace wm::runtime {

class OpenClCompilation final : public Compilation {
 public:
  explicit OpenClCompilation(const Native& native) : native_(native), cl_(native.cl) {}

  Made<ProgramHandle> program_from_source(std::string_view source) override;
  Made<ProgramHandle> program_from_binary(std::string_view binary) override;
  Status build(const ProgramObject& program, const std::string& options) override;
  Status compile(const ProgramObject& program, const std::string& options, std::span<const Header> headers) override;
  Made<ProgramHandle> link(std::span<const ProgramHandle> inputs, const std::string& options) override;
  [[nodiscard]] bool build_failed(const ProgramObject& program) const override;
  [[nodiscard]] BinaryType binary_type(const ProgramObject& program) const override;
  Status binary(const ProgramObject& program, std::string& answer) const override;
  [[nodiscard]] std::string build_log(const ProgramObject& program) const override;
  [[nodiscard]] std::optional<std::string> kernel_names(const ProgramObject& program) const override;
  Status program_info(const ProgramObject& program, std::uint32_t name, std::vector<std::byte>& answer) const override;
  Status build_info(const ProgramObject& program, std::uint32_t name, std::vector<std::byte>& answer) const override;
  Made<KernelHandle> create_kernel(const ProgramObject& program, const std::string& name) override;
  [[nodiscard]] KernelInfo properties(const KernelObject& kernel) const override;
  Status kernel_info(const KernelObject& kernel, std::uint32_t name, std::vector<std::byte>& answer) const override;
  Status argument_info(const KernelObject& kernel, std::uint32_t index, std::uint32_t name,
                       std::vector<std::byte>& answer) const override;
  Status group_info(const KernelObject& kernel, std::uint32_t name, std::vector<std::byte>& answer) const override;

 private:
  [[nodiscard]] Made<ProgramHandle> own(cl_program made, cl_int status) const;
  [[nodiscard]] ParameterKind parameter_kind(const KernelObject& kernel, std::uint32_t index) const;

  const Native& native_;
  const NativeCalls& cl_;
};

}  // namespace wm::runtime
