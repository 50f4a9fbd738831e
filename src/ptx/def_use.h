// The registers that an instruction writes and reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/ir.h"

namespace wm::ptx {

// Whether the first operand is written; of a call, its results.
[[nodiscard]] bool has_destination(const Instruction& instruction);

// Calls `visit` with the index of every register in `operand`: of an address its base, of a vector its elements.
template <typename Visitor>
void for_each_register(const Operand& operand, Visitor&& visit) {
  if (operand.kind == Operand::Kind::reg) visit(operand.index);
  for (const Operand& element : operand.elements) for_each_register(element, visit);
}

template <typename Visitor>
void for_each_definition(const Instruction& instruction, Visitor&& visit) {
  if (has_destination(instruction)) for_each_register(instruction.operands[0], visit);
}

// The guard is read too.
template <typename Visitor>
void for_each_use(const Instruction& instruction, Visitor&& visit) {
  if (instruction.guard.present) visit(instruction.guard.reg);
  for (std::size_t i = has_destination(instruction) ? 1 : 0; i < instruction.operands.size(); ++i) {
    for_each_register(instruction.operands[i], visit);
  }
}

}  // namespace wm::ptx
