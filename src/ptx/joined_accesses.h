// Accesses to neighbouring words of shared memory that an assembler makes one access of a vector.
#pragma once

#include <vector>

#include "ptx/analysis.h"
#include "ptx/assembled_instruction.h"
#include "ptx/lane_values.h"

namespace wm::ptx {

// Marks the accesses of `opcode` (ld, st) in `out`: where an address is known to be aligned, the guards are the same
// and nothing between the accesses orders them, the first becomes the vector and the others are folded.
void join_shared_accesses(const Function& function, const ControlFlow& flow, const LaneValues& values, Opcode opcode,
                          std::vector<AssembledInstruction>& out);

}  // namespace wm::ptx
