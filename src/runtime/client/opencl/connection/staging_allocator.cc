#include "runtime/client/opencl/connection/staging_allocator.h"

#include <iterator>

namespace wm::runtime::client {

std::optional<std::uint64_t> StagingAllocator::allocate(std::uint64_t size) {
  const std::uint64_t bytes = rounded(size);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < bytes) continue;
    const auto [offset, size_of_gap] = *it;
    free_.erase(it);
    if (size_of_gap > bytes) free_.emplace(offset + bytes, size_of_gap - bytes);
    return offset;
  }
  return std::nullopt;
}

void StagingAllocator::free(std::uint64_t offset, std::uint64_t size) {
  auto [it, inserted] = free_.emplace(offset, rounded(size));
  if (!inserted) return;
  if (const auto next = std::next(it); next != free_.end() && it->first + it->second == next->first) {
    it->second += next->second;
    free_.erase(next);
  }
  if (it != free_.begin()) {
    const auto before = std::prev(it);
    if (before->first + before->second == it->first) {
      before->second += it->second;
      free_.erase(it);
    }
  }
}

}  // namespace wm::runtime::client
