// A PTX module in the simulated GPU's memory: its variables and its kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "runtime/simulated/device_memory.h"
#include "runtime/simulated/module_code.h"

namespace wm::runtime {

struct ModuleVariable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool managed = false;
};

class LoadedModule {
 public:
  // Parses the PTX and places its variables. `file` names the PTX in messages; `owner` is the context of the memory.
  static Result<std::unique_ptr<LoadedModule>> load(std::string_view ptx, const std::string& file,
                                                    const gpu::GpuConfig& config, DeviceMemory& memory,
                                                    const void* owner);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  [[nodiscard]] bool has_kernel(const std::string& name) const { return module().entry(name) != nullptr; }
  [[nodiscard]] std::vector<std::string> kernel_names() const;
  // The kernel, ready to run. Any thread may ask.
  Result<const LoadedKernel*> kernel(const std::string& name) { return code_->kernel(name); }
  [[nodiscard]] std::optional<ModuleVariable> variable(const std::string& name) const;
  [[nodiscard]] const ptx::Module& module() const { return code_->module(); }
  [[nodiscard]] const ModuleCode& code() const { return *code_; }

 private:
  explicit LoadedModule(DeviceMemory& memory) : memory_(memory) {}
  Result<exec::Image> place_variables(const ptx::Module& module, const void* owner);

  DeviceMemory& memory_;
  std::vector<std::uint64_t> allocated_;
  std::unique_ptr<ModuleCode> code_;
};

}  // namespace wm::runtime
