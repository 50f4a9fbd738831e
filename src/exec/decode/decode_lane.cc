// Register-only instructions: the routine from lane_ops.h and its rows.
#include <fmt/format.h>

#include "exec/decode/function_decoder.h"
#include "exec/lane_ops.h"
#include "exec/special.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

namespace {

bool takes_carry(Opcode opcode) { return opcode == Opcode::addc || opcode == Opcode::subc || opcode == Opcode::madc; }

bool has_vector(const ptx::Instruction& instruction) {
  for (const ptx::Operand& operand : instruction.operands)
    if (operand.kind == ptx::Operand::Kind::vector) return true;
  return false;
}

}  // namespace

bool FunctionDecoder::lane(const Instruction& instruction, Op& op) {
  // A mov of a special register or an address is a copy of a row like any other.
  if (!is_lane_op(instruction) && instruction.opcode != Opcode::mov) return false;
  std::vector<Type> types;
  for (const Operand& operand : instruction.operands) types.push_back(reg_type(operand));
  auto routine = lane_op(instruction, types);
  if (!routine) {
    Error error = routine.error();
    error.where.file = program_.file;
    throw Refusal{std::move(error)};
  }
  op.kind = Kind::lane;
  op.run = *routine;
  op.operands.immediate = lane_immediate(instruction, types);
  for (const Operand& operand : instruction.operands)
    if (operand.kind == Operand::Kind::special && changes(operand.special)) op.reads_clock = true;

  if (has_vector(instruction)) {
    std::vector<RegisterRow> rows;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const Operand& operand = instruction.operands[i];
      const Type type = lane_operand_type(instruction, i);
      if (operand.kind != Operand::Kind::vector) {
        if (i == 0 || type != Type::none) rows.push_back(i == 0 ? destination(operand) : source(operand, type));
        continue;
      }
      for (const Operand& element : operand.elements)
        rows.push_back(i == 0 ? destination(element) : source(element, type));
    }
    keep_rows(op, std::move(rows));
    return true;
  }

  const Operand& first = instruction.operands.at(0);
  if (first.kind == Operand::Kind::pair) {
    op.operands.destination = {destination(first.elements[0]), destination(first.elements[1])};
  } else {
    op.operands.destination[0] = destination(first);
  }
  std::size_t next = 0;
  for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
    const Type type = lane_operand_type(instruction, i);
    if (type == Type::none) continue;
    if (next == op.operands.source.size()) refuse(instruction, "has too many operands");
    op.operands.source[next] = source(instruction.operands[i], type);
    op.operands.negated[next] = instruction.operands[i].negated;
    ++next;
  }
  if (instruction.opcode >= Opcode::vadd2 && instruction.opcode <= Opcode::vset4)
    op.operands.source[3] = pool_.row(4, simd_video_selection(instruction));
  if (instruction.has(Suffix::cc) || takes_carry(instruction.opcode)) {
    // The condition code: one predicate row of the frame, read before it is written only by a program that is wrong.
    if (carry_.none()) {
      carry_ = fresh_row(0);
      SetupRow row;
      row.bytes = 0;
      row.destination = carry_;
      out_.setup.push_back(row);
    }
    if (instruction.has(Suffix::cc)) op.operands.destination[1] = carry_;
    if (takes_carry(instruction.opcode)) op.operands.source[3] = carry_;
  }
  return true;
}

}  // namespace wm::exec
