// Finds the routine that executes a register-only instruction: arithmetic, logic, comparison, selection, conversion,
// moves between registers, packed and matrix operations. Memory, control flow, barriers and cross-lane exchange are
// elsewhere.
#pragma once

#include "base/result.h"
#include "exec/lanes.h"
#include "ptx/ir.h"

namespace wm::exec {

// The routine for `instruction`, chosen once at decode by opcode, types and suffixes; or an error that says what is not
// supported. `operand_types` are the declared types of the register operands (Type::none for the rest), in the order of
// instruction.operands: conversions and moves look at the registers' own width.
Result<LaneOp> lane_op(const ptx::Instruction& instruction, std::span<const ptx::Type> operand_types);

// The value of Operands::immediate: lop3's table, how a comparison joins its third operand, a conversion's plan.
std::uint32_t lane_immediate(const ptx::Instruction& instruction, std::span<const ptx::Type> operand_types);

// The type of the row that operand `index` of instruction.operands is read or written as, so that a constant can be
// laid out (for a vector: of each element). Type::none: the operand is no row (lop3's table).
ptx::Type lane_operand_type(const ptx::Instruction& instruction, std::size_t index);

// Whether lane_op handles the instruction. A mov of a special register or an address is handled elsewhere.
bool is_lane_op(const ptx::Instruction& instruction);

// The selections of a SIMD video instruction's operands (%r1.b3210), as its source[3] takes them.
std::uint32_t simd_video_selection(const ptx::Instruction& instruction);

}  // namespace wm::exec
