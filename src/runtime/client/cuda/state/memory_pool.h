// A memory pool. Simulated memory is not kept when it is freed, so a pool has attributes and no memory of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace wm::cuda {

class MemoryPool {
 public:
  static constexpr int kAttributes = 9;
  std::array<std::atomic<std::uint64_t>, kAttributes> attributes{};
};

}  // namespace wm::cuda
