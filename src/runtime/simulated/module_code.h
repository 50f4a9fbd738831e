// The kernels of a PTX module whose variables have been placed, decoded when they are first used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec/image.h"
#include "exec/program.h"
#include "gpu/gpu_config.h"
#include "ptx/ir.h"

namespace wm::runtime {

struct LoadedKernel {
  std::string name;
  std::shared_ptr<const exec::Program> program;
  std::shared_ptr<const exec::Constants> constants;
  std::uint32_t registers_per_thread = 0;
  std::uint64_t module = 0;         // number of its module
  std::string cluster_directive{};  // the directive that asks for clusters of blocks; empty: none does
};

// Registers of a thread in blocks of so many threads. `estimate` comes from PTX, and ptxas may need fewer, so that no
// block is refused for it: it has as many as let the block fit an SM.
[[nodiscard]] inline std::uint32_t fitting_registers(std::uint32_t estimate, std::uint64_t threads,
                                                     const gpu::GpuConfig& config) {
  const std::uint64_t rounded = (std::max<std::uint64_t>(threads, 1) + 31) / 32 * 32;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(estimate, config.sm.registers / rounded / 8 * 8));
}

// Separates the parts of a program that was compiled in parts (nvcc -rdc=true) in one text.
inline constexpr std::string_view kPartSeparator = "\n// next part\n";

// Parses PTX as the GPU runs it: its parts linked, contracted, and in the order in which the GPU issues instructions.
// An instruction that warpmux does not have is an error of the kernels that need it, not of the module.
Result<ptx::Module> parse_module(std::string_view ptx, const std::string& file, const gpu::GpuConfig& config);

class ModuleCode {
 public:
  // `file` names the PTX in messages; `number` names the module.
  ModuleCode(ptx::Module module, std::string file, exec::Image image, std::uint64_t number)
      : module_(std::move(module)), file_(std::move(file)), image_(std::move(image)), number_(number) {}

  // The kernel, ready to run. Any thread may ask.
  Result<const LoadedKernel*> kernel(const std::string& name);
  [[nodiscard]] const ptx::Module& module() const { return module_; }
  [[nodiscard]] const exec::Image& image() const { return image_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  ptx::Module module_;
  std::string file_;
  exec::Image image_;
  const std::uint64_t number_;
  std::map<std::string, LoadedKernel> kernels_;
  std::mutex mutex_;
};

}  // namespace wm::runtime
