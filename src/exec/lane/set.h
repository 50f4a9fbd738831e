// The value that `set` writes if the comparison holds: all bits set for an integer type, 1.0 for a float type.
#pragma once

#include "exec/lane/compare.h"

namespace wm::exec {

// The pattern for one value, or for one half of a pair; the immediate of `set` carries the destination's type.
std::uint32_t true_pattern(ptx::Type type);
ptx::Type set_type(const Operands& operands);

// Writes the pattern, or zero, to a row of 16 or of 32 bits.
void write_set(const Operands& operands, const Frame& frame, Mask compared);
void write_set_pair(const Operands& operands, const Frame& frame, Mask low, Mask high);

LaneOp set_half(Form& form, Comparison comparison);  // set_half.cc

}  // namespace wm::exec
