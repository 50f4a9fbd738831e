// A PTX module in the simulated GPU's memory: its variables, and its kernels, decoded when they are first used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/grid.h"
#include "exec/image.h"
#include "exec/program.h"
#include "gpu/gpu_config.h"
#include "ptx/ir.h"
#include "runtime/simulated/device_memory.h"

namespace wm::runtime {

struct LoadedKernel {
  std::string name;
  std::shared_ptr<const exec::Program> program;
  std::shared_ptr<const exec::Constants> constants;
  std::uint32_t registers_per_thread = 0;
};

struct ModuleVariable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool managed = false;
};

class LoadedModule {
 public:
  // Parses the PTX and places its variables. An instruction that warpmux does not have is an error of the kernels that
  // need it, not of the module. `file` names the PTX in messages; `owner` is the context of the memory.
  static Result<std::unique_ptr<LoadedModule>> load(std::string_view ptx, const std::string& file,
                                                    const gpu::GpuConfig& config, DeviceMemory& memory,
                                                    const void* owner);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  [[nodiscard]] bool has_kernel(const std::string& name) const { return module_.entry(name) != nullptr; }
  [[nodiscard]] std::vector<std::string> kernel_names() const;
  // The kernel, ready to run. Any thread may ask.
  Result<const LoadedKernel*> kernel(const std::string& name);
  [[nodiscard]] std::optional<ModuleVariable> variable(const std::string& name) const;
  [[nodiscard]] const ptx::Module& module() const { return module_; }

 private:
  LoadedModule(ptx::Module module, std::string file, DeviceMemory& memory)
      : module_(std::move(module)), file_(std::move(file)), memory_(memory) {}
  Result<void> place_variables(const void* owner);

  ptx::Module module_;
  std::string file_;
  DeviceMemory& memory_;
  std::vector<std::uint64_t> allocated_;
  std::unique_ptr<exec::Image> image_;
  std::map<std::string, LoadedKernel> kernels_;
  std::mutex mutex_;
};

}  // namespace wm::runtime
