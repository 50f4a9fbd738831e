// Shifts to the left by a constant where the integer unit has more to do than the units of multiplications.
//
// ptxas writes such a shift as a multiplication in code that is mostly integer logic, as in xorshift generators, and as
// a shift elsewhere: in straight-line code it distributes them so that neither unit waits for the other.
#pragma once

#include <span>

#include "exec/program.h"
#include "gpu/gpu_config.h"
#include "sim/cycle/sm/timed_op.h"

namespace wm::sim {

// Moves shifts of every basic block to the multiply unit, as long as the integer unit is busy longer than the units of
// multiplications and of single precision. `ops` are the operations of `program`, by pc.
void balance_shifts(std::span<TimedOp> ops, const exec::Program& program, const gpu::GpuConfig& config);

}  // namespace wm::sim
