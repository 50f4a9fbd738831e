#include "exec/image.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace wm::exec {

namespace {

constexpr std::size_t kAlign = 64;

bool in_memory(const ptx::Variable& v) { return v.space == ptx::Space::global || v.space == ptx::Space::constant; }

// The value of `symbol` in an initialiser: a variable's address or a function's.
Result<std::uint64_t> symbol_value(const ptx::Module& module, const std::vector<std::uint64_t>& addresses,
                                   const ptx::Variable& in, const std::string& symbol) {
  for (std::size_t i = 0; i < module.variables.size(); ++i)
    if (module.variables[i].name == symbol && addresses[i] != 0) return addresses[i];
  for (std::size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].name == symbol) return function_address(static_cast<std::uint32_t>(i));
  return Error{fmt::format("the initial value of '{}' names '{}', which has no address", in.name, symbol),
               {{}, in.position.line, in.position.column}};
}

Result<void> initialise(const ptx::Module& module, const std::vector<std::uint64_t>& addresses, std::size_t index,
                        AddressSpace& memory) {
  const ptx::Variable& v = module.variables[index];
  if (auto zero = memory.fill(addresses[index], std::byte{0}, v.bytes()); !zero) return zero.error();
  const auto bytes = std::min<std::uint64_t>(v.initial.size(), v.bytes());
  if (auto w = memory.write(addresses[index], reinterpret_cast<const std::byte*>(v.initial.data()), bytes); !w)
    return w.error();
  for (const ptx::Relocation& r : v.relocations) {
    const auto value = symbol_value(module, addresses, v, r.symbol);
    if (!value) return value.error();
    const std::uint64_t word = *value + static_cast<std::uint64_t>(r.addend);
    std::byte raw[8];
    std::memcpy(raw, &word, sizeof raw);
    if (auto w = memory.write(addresses[index] + r.offset, raw, std::min<std::uint32_t>(r.size, 8)); !w)
      return w.error();
  }
  return {};
}

}  // namespace

Constants::Constants(std::size_t bytes) : storage_(new std::byte[bytes + kAlign]), data_(storage_.get()) {
  const auto misfit = reinterpret_cast<std::uintptr_t>(data_) % kAlign;
  if (misfit != 0) data_ += kAlign - misfit;
}

Result<Image> Image::load(const ptx::Module& module, AddressSpace& memory) {
  return load(module, memory, [&](const ptx::Variable& v) { return memory.allocate(v.bytes(), v.name); });
}

Result<Image> Image::load(const ptx::Module& module, AddressSpace& memory, const Allocate& allocate) {
  const bool uses_heap = std::any_of(module.functions.begin(), module.functions.end(),
                                     [](const ptx::Function& f) { return f.declaration && f.name == "malloc"; });
  if (uses_heap)
    if (auto made = memory.make_heap(); !made) return made.error();
  Image image;
  image.addresses_.resize(module.variables.size(), 0);
  for (std::size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& v = module.variables[i];
    image.names_.push_back(v.name);
    image.bytes_.push_back(v.bytes());
    if (!in_memory(v) || v.linkage == ptx::Linkage::external) continue;
    auto address = allocate(v);
    if (!address) return address.error();
    image.addresses_[i] = *address;
  }
  for (std::size_t i = 0; i < module.variables.size(); ++i) {
    if (image.addresses_[i] == 0) continue;
    if (auto done = initialise(module, image.addresses_, i, memory); !done) return done.error();
    if (module.variables[i].space == ptx::Space::constant) memory.make_read_only(image.addresses_[i]);
  }
  return image;
}

Result<void> Image::write(const std::vector<gpu::VariableContent>& contents, AddressSpace& memory) const {
  for (const gpu::VariableContent& content : contents) {
    const auto at = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), content.name) - names_.begin());
    if (at == names_.size() || addresses_[at] == 0)
      return Error{fmt::format("the PTX has no variable '{}' in global or constant memory", content.name)};
    if (content.bytes.size() != bytes_[at])
      return Error{
          fmt::format("variable '{}' has {} bytes, its content {}", content.name, bytes_[at], content.bytes.size())};
    if (auto done = memory.write(addresses_[at], content.bytes.data(), content.bytes.size()); !done) return done;
  }
  return {};
}

Result<std::shared_ptr<const Constants>> Image::link(const Program& program) const {
  auto pool = std::make_shared<Constants>(program.constants.size());
  if (!program.constants.empty()) std::memcpy(pool->data(), program.constants.data(), program.constants.size());
  for (const PoolRelocation& r : program.relocations) {
    const std::uint64_t base = addresses_[r.variable];
    if (base == 0)
      return Error{
          fmt::format("kernel '{}' uses '{}', which this module only declares", program.kernel, names_[r.variable])};
    const std::uint64_t value = base + static_cast<std::uint64_t>(r.addend);
    for (int lane = 0; lane < kLanes; ++lane)
      std::memcpy(pool->data() + r.row + static_cast<std::size_t>(lane) * r.bytes, &value, r.bytes);
  }
  return std::shared_ptr<const Constants>(std::move(pool));
}

}  // namespace wm::exec
