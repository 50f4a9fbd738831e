#include "ptx/placement.h"

namespace wm::ptx {

Placement::Placement(const ControlFlow& flow) : dominators_(flow) {
  for (std::uint32_t last = 0; last < flow.blocks.size(); ++last)
    for (const std::uint32_t first : flow.blocks[last].successors)
      if (first <= last && dominates(first, last)) loops_.push_back({first, last});
}

Placement::Loop Placement::innermost(std::uint32_t block) const {
  Loop found;
  for (const Loop& loop : loops_) {
    if (block < loop.first || block > loop.last) continue;
    if (found.last == kNoBlock || loop.first > found.first) found = loop;
  }
  return found;
}

std::uint32_t Placement::before_loops(std::uint32_t block, std::uint32_t defined) const {
  for (;;) {
    const Loop loop = innermost(block);
    if (loop.last == kNoBlock || (defined >= loop.first && defined <= loop.last)) return block;
    // Without a block before it, the loop has the entry or lies before it in the text.
    if (dominators_.immediate(loop.first) == kNoBlock || dominators_.immediate(loop.first) >= loop.first) return block;
    block = dominators_.immediate(loop.first);
  }
}

std::uint32_t Placement::before_loops_that_pass(std::uint32_t block, std::uint32_t defined) const {
  const Loop loop = innermost(block);
  return loop.last != kNoBlock && dominates(block, loop.last) ? before_loops(block, defined) : block;
}

}  // namespace wm::ptx
