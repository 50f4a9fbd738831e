// The special registers: the row a warp reads for each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/special.h"

namespace wm::exec {

struct Grid;
class Block;

struct WarpPlace {
  const Grid& grid;
  const Block& block;
  std::uint32_t warp = 0;
};

// Whether it reads differently while a warp runs: clocks.
[[nodiscard]] bool changes(ptx::Special special);

// Fills the row of `special`: 32 values of its type (a predicate: one mask).
void fill_special(ptx::Special special, const WarpPlace& at, std::byte* row);

}  // namespace wm::exec
