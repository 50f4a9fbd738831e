// The basic blocks in which an assembler computes a value that later blocks, or every turn of a loop, read.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/dominators.h"

namespace wm::ptx {

class Placement {
 public:
  explicit Placement(const ControlFlow& flow);

  // Whether every path from the entry to `block` passes `dominator`.
  [[nodiscard]] bool dominates(std::uint32_t dominator, std::uint32_t block) const {
    return dominators_.dominates(dominator, block);
  }
  // The last block that every path to each of the two passes.
  [[nodiscard]] std::uint32_t common_dominator(std::uint32_t a, std::uint32_t b) const {
    return dominators_.common(a, b);
  }
  [[nodiscard]] bool is_in_loop(std::uint32_t block) const { return innermost(block).last != kNoBlock; }
  // The block before the outermost loop around `block` that does not contain the block `defined`; `block` if there is
  // none.
  [[nodiscard]] std::uint32_t before_loops(std::uint32_t block, std::uint32_t defined) const;
  // The same for what every turn computes: `block` if a turn of its loop may pass it by.
  [[nodiscard]] std::uint32_t before_loops_that_pass(std::uint32_t block, std::uint32_t defined) const;

 private:
  // Blocks of a loop are neighbours.
  struct Loop {
    std::uint32_t first = kNoBlock;
    std::uint32_t last = kNoBlock;
  };

  [[nodiscard]] Loop innermost(std::uint32_t block) const;

  Dominators dominators_;
  std::vector<Loop> loops_;
};

}  // namespace wm::ptx
