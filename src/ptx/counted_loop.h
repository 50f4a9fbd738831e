// A loop of one basic block whose turns can be counted before it begins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "ptx/analysis.h"
#include "ptx/lane_values.h"

namespace wm::ptx {

// A register that one instruction of the loop changes: by a constant step, each turn.
struct Induction {
  std::uint32_t at = 0;  // the instruction that adds the step
  std::int64_t step = 0;
};

struct CountedLoop {
  std::uint32_t begin = 0;  // instructions [begin, end) of the body; the last branches back to `begin`
  std::uint32_t end = 0;
  std::uint32_t compare = 0;  // the setp that decides about another turn
  std::map<std::uint32_t, Induction> inductions;
  std::uint32_t counter = 0;  // the induction that `compare` reads as its first operand
};

// The loop that the block is, where it has a counter with a constant step, a limit that it does not change, and no
// access or exchange that orders threads, except for barriers.
std::optional<CountedLoop> counted_loop(const Function& function, const BasicBlock& block);

}  // namespace wm::ptx
