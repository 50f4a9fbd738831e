// Visits the operands of an instruction, and those inside them.
#pragma once

#include "ptx/ir.h"

namespace wm::rewrite {

template <typename Instr, typename Visit>
void visit_operands(Instr& instruction, Visit&& visit) {
  const auto descend = [&](const auto& self, auto& operand) -> void {
    visit(operand);
    for (auto& element : operand.elements) self(self, element);
  };
  for (auto& operand : instruction.operands) descend(descend, operand);
}

inline bool is_module_variable(const ptx::Operand& o) {
  return o.kind == ptx::Operand::Kind::variable && o.scope == ptx::Operand::Scope::module;
}

}  // namespace wm::rewrite
