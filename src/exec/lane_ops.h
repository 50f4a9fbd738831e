// Which routine executes a register-only instruction: arithmetic, logic, comparison, selection, conversion, moves
// between registers, packed and matrix operations. Memory, control flow, barriers and cross-lane exchange are elsewhere.
#pragma once

#include "base/result.h"
#include "exec/lanes.h"
#include "ptx/ir.h"

namespace wm::exec {

// The routine for `instruction`, chosen once at decode by opcode, types and suffixes; or an error that says what is not
// supported. `operand_types` are the declared types of the register operands (Type::none for the rest), in the order of
// instruction.operands: conversions and moves look at the registers' own width.
Result<LaneOp> lane_op(const ptx::Instruction& instruction, std::span<const ptx::Type> operand_types);

// Whether lane_op is the one to ask.
bool is_lane_op(const ptx::Instruction& instruction);

}  // namespace wm::exec
