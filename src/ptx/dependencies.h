// The dependencies that an order of a basic block's instructions must keep, and a check of a reordered function.
//
// The check compares every pair of instructions by its definition. It shares no code with the scheduler but the
// effects of single instructions (memory_effect.h, def_use.h).
#pragma once

#include <optional>
#include <string>

#include "ptx/ir.h"

namespace wm::ptx {

// Whether `then`, which follows `first` in a basic block, must stay behind it: because of a register, the carry flag,
// memory, a fence, a clock, or the end of the block.
[[nodiscard]] bool must_follow(const Instruction& first, const Instruction& then);

// Compares two functions block by block: the blocks of `reordered` must hold the instructions of `original`, in an
// order that keeps all dependencies. Returns nothing, or a description of the first violation.
[[nodiscard]] std::optional<std::string> violated_dependency(const Function& original, const Function& reordered);

}  // namespace wm::ptx
