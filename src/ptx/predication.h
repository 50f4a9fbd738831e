// Replaces branches over a few instructions by predicates, as ptxas does: every warp then issues these instructions.
#pragma once

#include "ptx/ir.h"

namespace wm::ptx {

// The function with the branches that `assemble` (assembly.h) takes for predicates replaced, where the instructions
// behind them have no guards of their own; it computes the same.
Function predicated(const Function& function);

}  // namespace wm::ptx
