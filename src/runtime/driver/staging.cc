#include "runtime/driver/staging.h"

#include <iterator>

namespace wm::runtime::driver {

std::optional<std::uint64_t> Staging::take(std::uint64_t size) {
  const std::uint64_t wanted = rounded(size);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < wanted) continue;
    const auto [offset, room] = *it;
    free_.erase(it);
    if (room > wanted) free_.emplace(offset + wanted, room - wanted);
    return offset;
  }
  return std::nullopt;
}

void Staging::give(std::uint64_t offset, std::uint64_t size) {
  auto [it, fresh] = free_.emplace(offset, rounded(size));
  if (!fresh) return;
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

}  // namespace wm::runtime::driver
