#include "runtime/simulated/module_code.h"

#include <algorithm>

#include "exec/grid.h"
#include "ptx/analysis.h"
#include "ptx/contraction.h"
#include "ptx/link.h"
#include "ptx/parse.h"
#include "ptx/predication.h"
#include "ptx/schedule.h"
#include "ptx/unroll.h"

namespace wm::runtime {

namespace {

// Every block is a cluster of its own: a kernel that asks for this, or for nothing, runs as on a GPU.
std::string cluster_directive(const ptx::Function& kernel) {
  for (const ptx::Directive& d : kernel.directives) {
    if (d.name == "explicitcluster" || d.name == "blocksareclusters") return d.name;
    if (d.name != "reqnctapercluster") continue;
    if (std::any_of(d.values.begin(), d.values.end(), [](std::uint32_t n) { return n > 1; })) return d.name;
  }
  return {};
}

}  // namespace

Result<ptx::Module> parse_module(std::string_view ptx, const std::string& file, const gpu::GpuConfig& config) {
  std::vector<ptx::Module> parts;
  while (true) {
    const std::size_t end = std::min(ptx.find(kPartSeparator), ptx.size());
    auto parsed = ptx::parse(ptx.substr(0, end), file, ptx::OnUnsupported::refuse_function);
    if (!parsed) return parsed.error();
    parts.push_back(*std::move(parsed));
    if (end == ptx.size()) break;
    ptx.remove_prefix(end + kPartSeparator.size());
  }
  auto linked = ptx::link(std::move(parts));
  if (!linked) return linked.error();
  ptx::Module module = ptx::contracted(*std::move(linked));
  if (config.assembled)
    for (ptx::Function& f : module.functions) f = ptx::in_latency_order(ptx::predicated(ptx::unrolled(f)));
  return module;
}

Result<const LoadedKernel*> ModuleCode::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) return &known->second;
  const ptx::Function* function = module_.entry(name);
  if (function == nullptr) return Error{"the module has no kernel '" + name + "'"};
  auto program = exec::decode(module_, name, file_);
  if (!program) return program.error();
  auto constants = image_.link(**program);
  if (!constants) return constants.error();
  const std::uint32_t registers = ptx::register_demand(module_, *function).registers;
  LoadedKernel kernel{name, *program, *constants, registers, number_, cluster_directive(*function)};
  return &kernels_.emplace(name, std::move(kernel)).first->second;
}

}  // namespace wm::runtime
