// Unrolls small loops as ptxas does: the body is executed four times per turn.
//
// Seen in the machine code of the validation corpus: a loop of one basic block is unrolled unless `.pragma "nounroll"`
// marks it, if its counter has a constant step and its body is short (unroll_cost.h). Turns that do not fill four
// follow in the loop as it was.
#pragma once

#include "ptx/ir.h"

namespace wm::ptx {

// The names of registers that test whether a limit wraps around begin so: ptxas does not make these tests.
inline constexpr const char* kLimitRegister = "%unrolled_limit";

// The function with its small loops unrolled; it computes the same.
Function unrolled(const Function& function);

}  // namespace wm::ptx
