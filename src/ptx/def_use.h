// Which registers an instruction writes and which it reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/ir.h"

namespace wm::ptx {

// Whether the first operand is written; of a call, its results.
[[nodiscard]] bool has_destination(const Instruction& instruction);

// Calls `each` with the index of every register in `operand`: of an address its base, of a vector its elements.
template <typename Each>
void for_each_register(const Operand& operand, Each&& each) {
  if (operand.kind == Operand::Kind::reg) each(operand.index);
  for (const Operand& element : operand.elements) for_each_register(element, each);
}

template <typename Each>
void for_each_definition(const Instruction& instruction, Each&& each) {
  if (has_destination(instruction)) for_each_register(instruction.operands[0], each);
}

// The guard is read too.
template <typename Each>
void for_each_use(const Instruction& instruction, Each&& each) {
  if (instruction.guard.present) each(instruction.guard.reg);
  for (std::size_t i = has_destination(instruction) ? 1 : 0; i < instruction.operands.size(); ++i) {
    for_each_register(instruction.operands[i], each);
  }
}

}  // namespace wm::ptx
