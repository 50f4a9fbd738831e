// Loads from shared memory whose lanes lie in four groups of eight, each group at one word or at eight in a row: rows
// of tiles 8, 16 or 32 wide, words that many lanes read. The shape of such addresses is computed once and holds for
// every offset from the same register, so that an unrolled loop over a tile only copies its words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/access.h"
#include "exec/lanes.h"
#include "exec/program.h"

namespace wm::exec {

struct SharedShape {
  static constexpr int kGroups = 4;
  static constexpr int kGroup = kLanes / kGroups;

  RegisterRow base;      // the register; none: no shape
  bool grouped = false;  // false: its addresses have no such shape
  bool narrow = false;   // 32-bit addresses
  bool in_a_row = false;
  std::uint32_t note = 0;                      // note that the accesses carry
  std::uint64_t lowest = 0;                    // lowest address, without an offset
  std::uint64_t reach = 0;                     // bytes from there to the end of the last word
  std::array<std::uint32_t, kGroups> above{};  // by group: its first lane's address, above the lowest

  // The shape of the addresses in the register of `memory`; `note` is called only if there is a shape.
  void find(const Memory& memory, const Frame& frame, const AccessNote& shared);
  // Loads a word a lane into `to`; false: not all of them lie in `bytes` of `memory`, and nothing was done.
  [[nodiscard]] bool load(std::int64_t offset, const std::byte* memory, std::uint64_t bytes, std::uint32_t* to) const {
    const std::uint64_t begin = lowest + static_cast<std::uint64_t>(offset);
    if (begin % sizeof(std::uint32_t) != 0 || begin > bytes || begin + reach > bytes) return false;
    const std::byte* from = memory + begin;
    if (in_a_row) {
      for (std::size_t g = 0; g < kGroups; ++g)
        std::memcpy(to + g * kGroup, from + above[g], kGroup * sizeof(std::uint32_t));
      return true;
    }
    for (std::size_t g = 0; g < kGroups; ++g) {
      std::uint32_t word = 0;
      std::memcpy(&word, from + above[g], sizeof word);
      std::fill(to + g * kGroup, to + (g + 1) * kGroup, word);
    }
    return true;
  }
};

// The shapes of the registers used last. They hold until the register is written.
class SharedShapes {
 public:
  // Whether `op`, a load by all lanes, may have a shape.
  [[nodiscard]] static bool takes(const Op& op) {
    const Memory& m = op.memory;
    return m.space == ptx::Space::shared && m.bytes == 4 && m.row_bytes == 4 && m.count == 1 && m.base_bytes != 0 &&
           !m.spins && !op.operands.destination[0].none();
  }
  const SharedShape& of(const Memory& memory, const Frame& frame, const AccessNote& shared) {
    for (const SharedShape& s : shapes_)
      if (s.base.value == memory.base.value && s.narrow == (memory.base_bytes == 4)) return s;
    SharedShape& s = shapes_[next_];
    next_ = (next_ + 1) % kShapes;
    s.find(memory, frame, shared);
    return s;
  }
  // An operation wrote its destinations.
  void written(const Operands& operands) {
    written(operands.destination[0]);
    if (!operands.destination[1].none()) written(operands.destination[1]);
    for (const RegisterRow row : operands.more) written(row);
  }
  // Nothing is known any more.
  void forget() {
    for (SharedShape& s : shapes_) s.base = {};
  }

 private:
  void written(RegisterRow row) {
    for (SharedShape& s : shapes_)
      if (s.base.value == row.value) s.base = {};
  }

  static constexpr std::uint32_t kShapes = 2;
  std::array<SharedShape, kShapes> shapes_;
  std::uint32_t next_ = 0;
};

}  // namespace wm::exec
