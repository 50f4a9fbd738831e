// The machine instructions that an optimising assembler makes of each PTX instruction, as far as they can be seen in
// one function: which ones become part of a neighbour, which branches become predicates, which loads are joined.
//
// The rules follow the machine code that ptxas 13 makes for sm_90. Costs of single instructions that need several (a
// division) are not part of this.
#pragma once

#include <vector>

#include "ptx/assembled_instruction.h"
#include "ptx/ir.h"

namespace wm::ptx {

// By index into the function's body.
std::vector<AssembledInstruction> assemble(const Function& function);

}  // namespace wm::ptx
