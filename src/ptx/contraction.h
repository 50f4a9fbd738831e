// Contraction of a multiplication and an addition into a fused multiply-add, as ptxas does it by default (-fmad=true).
#pragma once

#include "ptx/ir.h"

namespace wm::ptx {

// The same function with every `mul` fused into the `add` or `sub` instructions that use its result, by the rules seen
// in ptxas 13.0 for sm_90:
//  - neither instruction names a rounding; both flush subnormals (.ftz) or neither does; the product is not saturated;
//  - the product is not guarded, and all its uses, also through `mov` and `neg`, are such additions in the same basic
//    block: a product that is stored, compared or needed elsewhere stays apart from all its uses;
//  - where both operands of an addition are products, the first one is fused;
//  - a product added to itself is not fused.
// A fused subtraction is an `fma` with a negated register operand (Operand::negated), a form PTX text does not have.
[[nodiscard]] Function contracted(const Function& function);
[[nodiscard]] Module contracted(Module module);

}  // namespace wm::ptx
