// Divides the shared staging area, first fit. The daemon knows nothing of it: a chunk is only an offset and a size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace wm::runtime::driver {

class Staging {
 public:
  explicit Staging(std::uint64_t size) { free_.emplace(0, size); }

  static constexpr std::uint64_t kUnit = 64;
  [[nodiscard]] static constexpr std::uint64_t rounded(std::uint64_t size) {
    return (size + kUnit - 1) / kUnit * kUnit + (size == 0 ? kUnit : 0);
  }

  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size);
  void give(std::uint64_t offset, std::uint64_t size);

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // offset to size, no two adjacent
};

}  // namespace wm::runtime::driver
