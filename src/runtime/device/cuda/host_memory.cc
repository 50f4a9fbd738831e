#include "runtime/device/cuda/host_memory.h"

#include <bit>

namespace wm::runtime::cuda {
namespace {

constexpr std::size_t kSmallest = std::size_t{64} << 10;

}  // namespace

HostMemory::~HostMemory() {
  device_.make_current();
  for (const auto& [bytes, blocks] : free_) {
    for (std::byte* block : blocks) device_.cuda.free_host(block);
  }
}

std::size_t HostMemory::rounded(std::size_t bytes) { return std::bit_ceil(std::max(bytes, kSmallest)); }

std::span<std::byte> HostMemory::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (auto& blocks = free_[size]; !blocks.empty()) {
      std::byte* block = blocks.back();
      blocks.pop_back();
      return {block, size};
    }
  }
  void* made = nullptr;
  device_.make_current();
  if (device_.cuda.allocate_host(&made, size, 0) != kSuccess) return {};
  return {static_cast<std::byte*>(made), size};
}

void HostMemory::give_back(std::span<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  free_[memory.size()].push_back(memory.data());
}

void HostMemory::add_registered(std::span<std::byte> range) {
  const std::lock_guard lock(mutex_);
  registered_[range.data()] = range.size();
}

void HostMemory::remove_registered(std::span<std::byte> range) {
  const std::lock_guard lock(mutex_);
  registered_.erase(range.data());
}

bool HostMemory::is_registered(std::span<const std::byte> range) const {
  const std::lock_guard lock(mutex_);
  auto after = registered_.upper_bound(range.data());
  if (after == registered_.begin()) return false;
  --after;
  return range.data() + range.size() <= after->first + after->second;
}

}  // namespace wm::runtime::cuda
