// The blocks of a function that every path from its entry to another block passes.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/analysis.h"

namespace wm::ptx {

class Dominators {
 public:
  explicit Dominators(const ControlFlow& flow);

  // Whether every path from the entry to `block` passes `dominator`; false for a block that no path reaches.
  [[nodiscard]] bool dominates(std::uint32_t dominator, std::uint32_t block) const;
  // The last block that every path to each of the two passes.
  [[nodiscard]] std::uint32_t common(std::uint32_t a, std::uint32_t b) const;
  // The last block that every path to `block` passes before it; kNoBlock for the entry and what it does not reach.
  [[nodiscard]] std::uint32_t immediate(std::uint32_t block) const { return immediate_[block]; }

 private:
  std::vector<std::uint32_t> immediate_;
  std::vector<std::uint32_t> number_;  // in reverse postorder; kNoBlock: not reached
};

}  // namespace wm::ptx
