#include "exec/device_heap.h"

#include <algorithm>

namespace wm::exec {

bool DeviceHeap::is_used() const {
  return std::any_of(arenas_.begin(), arenas_.end(), [](const Arena& arena) { return arena.used != 0; });
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes, std::uint32_t sm, std::uint32_t sms) {
  constexpr std::uint64_t kAlign = 16;
  if (bytes == 0 || bytes > bytes_) return 0;
  const std::uint64_t size = (bytes + kAlign - 1) / kAlign * kAlign;
  Arena& arena = arenas_[sm % kArenas];
  std::uint64_t address = 0;
  if (auto& spare = arena.spare[size]; !spare.empty()) {
    address = spare.back();
    spare.pop_back();
  } else {
    const std::uint64_t part = bytes_ / std::clamp<std::uint64_t>(sms, 1, kArenas);
    const std::uint64_t arena_bytes = std::min(part, sm_bytes_) / kAlign * kAlign;
    if (size > arena_bytes - arena.used) return 0;
    address = base_ + sm % kArenas * arena_bytes + arena.used;
    arena.used += size;
  }
  arena.allocated[address] = size;
  return address;
}

bool DeviceHeap::free(std::uint64_t address, std::uint32_t sm) {
  if (address == 0) return true;
  Arena& arena = arenas_[sm % kArenas];
  const auto at = arena.allocated.find(address);
  if (at == arena.allocated.end()) return address - base_ < bytes_;  // perhaps of another SM
  arena.spare[at->second].push_back(address);
  arena.allocated.erase(at);
  return true;
}

}  // namespace wm::exec
