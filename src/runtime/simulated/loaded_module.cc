#include "runtime/simulated/loaded_module.h"

#include <algorithm>
#include <atomic>
#include <map>

namespace wm::runtime {

Result<std::unique_ptr<LoadedModule>> LoadedModule::load(std::string_view ptx, const std::string& file,
                                                         const gpu::GpuConfig& config, DeviceMemory& memory,
                                                         const void* owner) {
  static std::atomic<std::uint64_t> numbers{0};
  auto module = parse_module(ptx, file, config);
  if (!module) return module.error();
  std::unique_ptr<LoadedModule> loaded(new LoadedModule(memory));
  const bool uses_heap = std::any_of(module->functions.begin(), module->functions.end(),
                                     [](const ptx::Function& f) { return f.declaration && f.name == "malloc"; });
  if (uses_heap)
    if (auto made = memory.make_heap(config.sm.count, owner); !made) return made.error();
  auto image = loaded->place_variables(*module, owner);
  if (!image) return image.error();
  loaded->code_ = std::make_unique<ModuleCode>(*std::move(module), file, *std::move(image), ++numbers);
  return loaded;
}

LoadedModule::~LoadedModule() {
  for (const std::uint64_t address : allocated_) (void)memory_.free(address);
}

Result<exec::Image> LoadedModule::place_variables(const ptx::Module& module, const void* owner) {
  // Each allocation takes the lock; the executor then writes initial values, and may add a heap, under one of its own.
  std::map<std::string, std::uint64_t> addresses;
  for (const ptx::Variable& v : module.variables) {
    if (v.space != ptx::Space::global && v.space != ptx::Space::constant) continue;
    if (v.linkage == ptx::Linkage::external) continue;
    if (v.bytes() > memory_.total_bytes())
      return Error{"variable '" + v.name + "' is larger than the memory of the device"};
    auto address = v.managed ? memory_.allocate_shared(v.bytes(), MemoryKind::managed, 0, owner)
                             : memory_.allocate(v.bytes(), v.name, owner);
    if (!address) return address.error();
    allocated_.push_back(*address);
    addresses[v.name] = *address;
  }
  const DeviceMemory::Writer writer(memory_);
  return exec::Image::load(module, memory_.space(),
                           [&](const ptx::Variable& v) -> Result<std::uint64_t> { return addresses.at(v.name); });
}

std::vector<std::string> LoadedModule::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Function& f : module().functions) {
    if (f.entry) names.push_back(f.name);
  }
  return names;
}

std::optional<ModuleVariable> LoadedModule::variable(const std::string& name) const {
  for (std::size_t i = 0; i < module().variables.size(); ++i) {
    const ptx::Variable& v = module().variables[i];
    const std::uint64_t address = code_->image().address(static_cast<std::uint32_t>(i));
    if (v.name == name && address != 0) return ModuleVariable{address, v.bytes(), v.managed};
  }
  return std::nullopt;
}

}  // namespace wm::runtime
