// Short forms for building instructions of the PTX IR, as the rewriting passes use them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ptx/ir.h"

namespace wm::rewrite::build {

// A register of the function under rewriting.
struct Reg {
  std::uint32_t index = 0;
};

[[nodiscard]] ptx::Operand operand(Reg reg);
[[nodiscard]] ptx::Operand number(std::uint64_t value);
[[nodiscard]] ptx::Operand special(ptx::Special special);
[[nodiscard]] ptx::Operand label(std::uint32_t index);
[[nodiscard]] ptx::Operand variable(ptx::Operand::Scope scope, std::uint32_t index);
// [base + offset]
[[nodiscard]] ptx::Operand at(ptx::Operand base, std::int64_t offset = 0);

[[nodiscard]] ptx::Instruction make(ptx::Opcode opcode, std::vector<ptx::Suffix> suffixes, std::vector<ptx::Type> types,
                                    std::vector<ptx::Operand> operands);
// The same instruction for the threads whose predicate is set, or is not.
[[nodiscard]] ptx::Instruction only_if(Reg predicate, bool value, ptx::Instruction instruction);
[[nodiscard]] ptx::Instruction branch(std::uint32_t label);
[[nodiscard]] ptx::Instruction mov(Reg to, ptx::Operand from, ptx::Type type = ptx::Type::b32);

}  // namespace wm::rewrite::build
