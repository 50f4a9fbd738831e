// The natural loops of a PTX function.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/analysis.h"

namespace wm::rewrite {

struct Loop {
  std::uint32_t header = 0;               // a basic block
  std::vector<std::uint32_t> blocks;      // sorted, the header too
  std::vector<std::uint32_t> back_edges;  // instructions: the branches to the header from inside
  std::uint32_t instructions = 0;         // all blocks together
  bool innermost = true;                  // has no loop inside
  bool contiguous = false;                // its blocks stand one after another, the header first
  std::uint32_t begin = 0, end = 0;       // a contiguous loop's instructions
};

// In the order of their headers. A loop that is entered other than through its header is not natural and left out.
[[nodiscard]] std::vector<Loop> find_loops(const ptx::Function& function, const ptx::ControlFlow& flow);

}  // namespace wm::rewrite
