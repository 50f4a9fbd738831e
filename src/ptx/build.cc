#include "ptx/build.h"

#include <utility>

namespace wm::ptx::build {

Operand operand(Reg reg) {
  Operand o;
  o.kind = Operand::Kind::reg;
  o.index = reg.index;
  return o;
}

Operand number(std::uint64_t value) {
  Operand o;
  o.kind = Operand::Kind::integer;
  o.bits = value;
  return o;
}

Operand special(Special special) {
  Operand o;
  o.kind = Operand::Kind::special;
  o.special = special;
  return o;
}

Operand label(std::uint32_t index) {
  Operand o;
  o.kind = Operand::Kind::label;
  o.index = index;
  return o;
}

Operand variable(Operand::Scope scope, std::uint32_t index) {
  Operand o;
  o.kind = Operand::Kind::variable;
  o.scope = scope;
  o.index = index;
  return o;
}

Operand at(Operand base, std::int64_t offset) {
  Operand o;
  o.kind = Operand::Kind::address;
  o.offset = offset;
  o.elements.push_back(std::move(base));
  return o;
}

Instruction make(Opcode opcode, std::vector<Suffix> suffixes, std::vector<Type> types, std::vector<Operand> operands) {
  Instruction i;
  i.opcode = opcode;
  i.suffixes = std::move(suffixes);
  i.types = std::move(types);
  i.operands = std::move(operands);
  return i;
}

Instruction only_if(Reg predicate, bool value, Instruction instruction) {
  instruction.guard = {.present = true, .negated = !value, .reg = predicate.index};
  return instruction;
}

Instruction branch(std::uint32_t to) { return make(Opcode::bra, {}, {}, {label(to)}); }

Instruction mov(Reg to, Operand from, Type type) {
  return make(Opcode::mov, {}, {type}, {operand(to), std::move(from)});
}

}  // namespace wm::ptx::build
