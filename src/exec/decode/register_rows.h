// Assigns a row to every register of a function. Registers that are never live together share one.
//
// A register is assumed live from its first to its last use in the text, extended over the blocks it is live
// through; its row is free after that. A destination never shares with a source of the same instruction, so that a
// routine may write one before it has read the other.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/lanes.h"
#include "ptx/analysis.h"
#include "ptx/ir.h"

namespace wm::exec {

struct RegisterRows {
  std::vector<RegisterRow> row_of;       // by register; none: never mentioned
  std::vector<std::uint32_t> number;     // by register: the row's number, dense from 0
  std::vector<std::uint32_t> undefined;  // registers that may be read before they are written
  std::uint32_t rows = 0;
  std::uint32_t bytes = 0;  // size of all rows so far
};

RegisterRows layout_registers(const ptx::Function& function, const ptx::ControlFlow& flow);

// Bytes of one lane of a register; 0 for a predicate.
int lane_bytes(ptx::Type type);
// Bytes of a row of such lanes.
std::uint32_t row_size(int lane_bytes);

// Calls `body` with every register operand below `operand`: (operand).
template <typename Body>
void for_each_register(const ptx::Operand& operand, Body&& body) {
  if (operand.kind == ptx::Operand::Kind::reg) body(operand);
  for (const ptx::Operand& element : operand.elements) exec::for_each_register(element, body);
}

}  // namespace wm::exec
