#include "runtime/simulated_server/program_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

#include "runtime/simulated/served_protocol.h"

namespace wm::runtime {

ProgramMemory::ProgramMemory(Descriptor file, std::byte* base)
    : file_(std::move(file)), base_(base), space_(kServedSpan) {}

ProgramMemory::~ProgramMemory() { ::munmap(base_, kServedSpan); }

Result<std::unique_ptr<ProgramMemory>> ProgramMemory::make() {
  auto file = sealed_memory("warpmux-program", kServedSpan);
  if (!file) return file.error();
  return mapped(std::move(*file), MAP_SHARED);
}

Result<std::unique_ptr<ProgramMemory>> ProgramMemory::mapped(Descriptor file, int sharing) {
  void* pages = ::mmap(nullptr, kServedSpan, PROT_READ | PROT_WRITE, sharing | MAP_NORESERVE, file.get(), 0);
  if (pages == MAP_FAILED) return Error{std::string("cannot map a program's memory: ") + std::strerror(errno)};
  std::unique_ptr<ProgramMemory> memory(new ProgramMemory(std::move(file), static_cast<std::byte*>(pages)));
  if (auto made = memory->space_.make_heap(memory->source()); !made) return made.error();
  return memory;
}

exec::HostSource ProgramMemory::source() const {
  return [base = base_](std::uint64_t address, std::uint64_t bytes) -> exec::HostBytes {
    const std::uint64_t offset = address - exec::kGlobalBase;
    if (bytes > kServedSpan || offset > kServedSpan - bytes) return {};
    return exec::HostBytes(base + offset, {[](std::byte*) {}});
  };
}

Result<std::unique_ptr<ProgramMemory>> ProgramMemory::copy() const {
  auto made = mapped(Descriptor(::dup(file_.get())), MAP_PRIVATE);
  if (!made) return made.error();
  for (const auto& [address, range] : allocations_) {
    auto added = (*made)->add(address, range.bytes, range.on_device, range.name);
    if (added && range.alias_bytes != 0)
      added = (*made)->add_alias(range.alias, range.alias_address, range.alias_bytes);
    if (added && range.heap_sm_bytes != 0) added = (*made)->use_as_heap(address, range.heap_sm_bytes);
    if (!added) return added.error();
  }
  return made;
}

Result<void> ProgramMemory::add(std::uint64_t address, std::uint64_t bytes, bool on_device, const std::string& name) {
  if (auto added = space_.allocate_at(address, bytes, name, source()); !added) return added.error();
  allocations_[address] = {.bytes = bytes, .on_device = on_device, .name = name};
  if (on_device) device_bytes_ += bytes;
  return {};
}

Result<void> ProgramMemory::add_alias(std::uint64_t alias, std::uint64_t address, std::uint64_t bytes) {
  auto at = allocations_.upper_bound(address);
  if (at == allocations_.begin() || std::prev(at)->second.alias_bytes != 0)
    return Error{"no allocation of the program can have other addresses there"};
  if (auto added = space_.add_alias(alias, address, bytes); !added) return added;
  Range& range = std::prev(at)->second;
  range.alias = alias;
  range.alias_address = address;
  range.alias_bytes = bytes;
  return {};
}

Result<void> ProgramMemory::use_as_heap(std::uint64_t address, std::uint64_t sm_bytes) {
  const auto at = allocations_.find(address);
  if (at == allocations_.end()) return Error{"no allocation of the program starts there"};
  if (auto used = space_.use_as_heap(address, sm_bytes); !used) return used;
  for (auto& [_, range] : allocations_) range.heap_sm_bytes = 0;
  at->second.heap_sm_bytes = std::max<std::uint64_t>(sm_bytes, 1);
  return {};
}

Result<void> ProgramMemory::remove(std::uint64_t address) {
  const auto at = allocations_.find(address);
  if (at == allocations_.end()) return Error{"no allocation of the program starts there"};
  if (at->second.on_device) device_bytes_ -= at->second.bytes;
  allocations_.erase(at);
  return space_.free(address);
}

}  // namespace wm::runtime
