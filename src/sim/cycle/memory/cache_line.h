// One line of a cache's tag array, and the contract of the files in replacement/ (docs/guide/warp-scheduler.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace wm::sim {

// A line's address in units of lines, with the client in the top byte.
using LineAddress = std::uint64_t;
inline constexpr std::uint32_t kClientShift = 56;
using Sectors = std::uint8_t;  // bit i: sector i of the line

// The number of sectors, without the function that plain x86-64 calls to count bits.
[[nodiscard]] constexpr std::uint32_t sector_count(Sectors sectors) {
  constexpr std::uint64_t kCounts = 0x4332322132212110;  // by set of four sectors, four bits each
  return (kCounts >> (4 * (sectors & 0xf)) & 0xf) + (kCounts >> (4 * (sectors >> 4)) & 0xf);
}

struct CacheLine {  // all bytes of an empty one are 0
  LineAddress line = 0;
  std::uint32_t rank = 0;  // used by the replacement rule only
  Sectors valid = 0;       // 0: the line is empty
  Sectors dirty = 0;
  // By half of the GPU: sectors that its SMs have read since the other half wrote them.
  std::array<Sectors, 2> read_by{};
};

// The lines of one set.
using CacheSet = std::span<CacheLine>;

}  // namespace wm::sim
