// Short forms for building instructions of the PTX IR, as passes over a function use them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ptx/ir.h"

namespace wm::ptx::build {

// A register of the function that is changed.
struct Reg {
  std::uint32_t index = 0;
};

[[nodiscard]] Operand operand(Reg reg);
[[nodiscard]] Operand number(std::uint64_t value);
[[nodiscard]] Operand special(Special special);
[[nodiscard]] Operand label(std::uint32_t index);
[[nodiscard]] Operand variable(Operand::Scope scope, std::uint32_t index);
// [base + offset]
[[nodiscard]] Operand at(Operand base, std::int64_t offset = 0);

[[nodiscard]] Instruction make(Opcode opcode, std::vector<Suffix> suffixes, std::vector<Type> types,
                               std::vector<Operand> operands);
// The same instruction for the threads whose predicate is set, or is not.
[[nodiscard]] Instruction only_if(Reg predicate, bool value, Instruction instruction);
[[nodiscard]] Instruction branch(std::uint32_t label);
[[nodiscard]] Instruction mov(Reg to, Operand from, Type type = Type::b32);

}  // namespace wm::ptx::build
