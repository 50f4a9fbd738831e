// Programs and kernels of the CUDA driver.
//
// Another compiler turns source into PTX and answers queries: NVIDIA's OpenCL where it is installed, whose program
// binaries are PTX. A program that was built is adapted (rewrite/ptx/opencl_adapter.h), its kernels get a second form
// with gates, and the driver loads the result at once, so that no launch waits for it.
#pragma once

#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

class CudaCompilation final : public Compilation {
 public:
  CudaCompilation(Device& device, Compilation& compiler) : device_(device), compiler_(compiler) {}

  // Programs that are built from now on have a form as workers.
  void make_workers() { makes_workers_ = true; }

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
  static Made<ProgramHandle> wrapped(Made<ProgramHandle> made);
  // Loads the PTX of a program that was built.
  void load(CudaProgram& program) const;
  Result<std::shared_ptr<LoadedModule>> load_ptx(std::string text) const;
  Result<void> load_code(LoadedModule& loaded, const std::string& text) const;
  [[nodiscard]] KernelInfo::Workers worker_info(const CudaKernel& kernel) const;

  Device& device_;
  Compilation& compiler_;
  bool makes_workers_ = false;
};

// Copies of all kernels with loops get gates, under the names that `gated_name` gives. Returns these kernels' names.
std::vector<std::string> add_gated_kernels(ptx::Module& module);
[[nodiscard]] std::string gated_name(const std::string& kernel);
// Copies of the kernels become workers, under the names that `worker_name` gives.
std::vector<WorkerKernel> add_worker_kernels(ptx::Module& module, std::span<const rewrite::AdaptedKernel> kernels);
[[nodiscard]] std::string worker_name(const std::string& kernel);

}  // namespace wm::runtime::cuda
