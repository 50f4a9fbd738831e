#include "runtime/simulated_server/program_memory.h"

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
    if (auto added = (*made)->add(address, range.bytes, range.on_device, range.name); !added) return added.error();
  }
  return made;
}

Result<void> ProgramMemory::add(std::uint64_t address, std::uint64_t bytes, bool on_device, const std::string& name) {
  if (auto added = space_.allocate_at(address, bytes, name, source()); !added) return added.error();
  allocations_[address] = {bytes, on_device, name};
  if (on_device) device_bytes_ += bytes;
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
