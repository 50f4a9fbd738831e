#include "runtime/simulated/loaded_module.h"

#include "ptx/analysis.h"
#include "ptx/contraction.h"
#include "ptx/parse.h"
#include "ptx/schedule.h"

namespace wm::runtime {

Result<std::unique_ptr<LoadedModule>> LoadedModule::load(std::string_view ptx, const std::string& file,
                                                         const gpu::GpuConfig& config, DeviceMemory& memory,
                                                         const void* owner) {
  auto parsed = ptx::parse(ptx, file, ptx::OnUnsupported::refuse_function);
  if (!parsed) return parsed.error();
  ptx::Module module = ptx::contracted(*std::move(parsed));
  if (config.assembled)
    for (ptx::Function& f : module.functions) f = ptx::in_latency_order(f);
  std::unique_ptr<LoadedModule> loaded(new LoadedModule(std::move(module), file, memory));
  if (auto placed = loaded->place_variables(owner); !placed) return placed.error();
  return loaded;
}

LoadedModule::~LoadedModule() {
  for (const std::uint64_t address : allocated_) (void)memory_.free(address);
}

Result<void> LoadedModule::place_variables(const void* owner) {
  // Each allocation takes the lock; the executor then writes initial values, and may add a heap, under one of its own.
  std::map<std::string, std::uint64_t> addresses;
  for (const ptx::Variable& v : module_.variables) {
    if (v.space != ptx::Space::global && v.space != ptx::Space::constant) continue;
    if (v.linkage == ptx::Linkage::external) continue;
    auto address = v.managed ? memory_.allocate_shared(v.bytes(), MemoryKind::managed, 0, owner)
                             : memory_.allocate(v.bytes(), v.name, owner);
    if (!address) return address.error();
    allocated_.push_back(*address);
    addresses[v.name] = *address;
  }
  const DeviceMemory::Writer writer(memory_);
  auto image = exec::Image::load(module_, memory_.space(),
                                 [&](const ptx::Variable& v) -> Result<std::uint64_t> { return addresses.at(v.name); });
  if (!image) return image.error();
  image_ = std::make_unique<exec::Image>(*std::move(image));
  return {};
}

std::vector<std::string> LoadedModule::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Function& f : module_.functions) {
    if (f.entry) names.push_back(f.name);
  }
  return names;
}

Result<const LoadedKernel*> LoadedModule::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) return &known->second;
  const ptx::Function* function = module_.entry(name);
  if (function == nullptr) return Error{"the module has no kernel '" + name + "'"};
  auto program = exec::decode(module_, name, file_);
  if (!program) return program.error();
  auto constants = image_->link(**program);
  if (!constants) return constants.error();
  const std::uint32_t registers = ptx::register_demand(module_, *function).registers;
  return &kernels_.emplace(name, LoadedKernel{name, *program, *constants, registers}).first->second;
}

std::optional<ModuleVariable> LoadedModule::variable(const std::string& name) const {
  for (std::size_t i = 0; i < module_.variables.size(); ++i) {
    const ptx::Variable& v = module_.variables[i];
    const std::uint64_t address = image_->address(static_cast<std::uint32_t>(i));
    if (v.name == name && address != 0) return ModuleVariable{address, v.bytes(), v.managed};
  }
  return std::nullopt;
}

}  // namespace wm::runtime
