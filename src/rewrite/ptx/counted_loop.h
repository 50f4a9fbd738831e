// Loops of one basic block whose end is decided by a counter: strip-mining needs no test in every iteration.
#pragma once

#include <cstdint>
#include <optional>

#include "rewrite/ptx/loops.h"

namespace wm::rewrite {

// The loop ends with `setp p, counter, bound` and `@p bra header`; the counter changes by `step` in every iteration,
// before the comparison, and the bound does not change.
struct CountedLoop {
  std::uint32_t compare = 0;  // the index of the comparison
  std::uint32_t counter = 0;  // a register
  std::int64_t step = 0;
  bool wide = false;  // 64 bits
};

[[nodiscard]] std::optional<CountedLoop> counted_loop(const ptx::Function& function, const Loop& loop);

}  // namespace wm::rewrite
