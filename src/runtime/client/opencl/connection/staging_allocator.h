// Divides the staging area of the shared memory, first fit. The daemon does not know the division: a chunk is an
// offset and a size for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace wm::runtime::client {

class StagingAllocator {
 public:
  explicit StagingAllocator(std::uint64_t size) { free_.emplace(0, size); }

  static constexpr std::uint64_t kUnit = 64;
  [[nodiscard]] static constexpr std::uint64_t rounded(std::uint64_t size) {
    return (size + kUnit - 1) / kUnit * kUnit + (size == 0 ? kUnit : 0);
  }

  // The offset of `size` free bytes; nothing when there is no such gap.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t size);
  void free(std::uint64_t offset, std::uint64_t size);

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // offset to size; no two entries are adjacent
};

}  // namespace wm::runtime::client
