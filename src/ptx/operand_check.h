// Checks an operand against the requirement of a form, and describes both in messages.
#pragma once

#include <string>

#include "ptx/forms.h"
#include "ptx/ir.h"

namespace wm::ptx {

class OperandCheck {
 public:
  OperandCheck(const Function& function, const Instruction& instruction)
      : function_(function), instruction_(instruction) {}

  [[nodiscard]] bool fits(const OperandSpec& spec, const Operand& operand) const;
  // Gives a floating-point immediate the width the instruction works in; the operand fits already.
  void settle(const OperandSpec& spec, Operand& operand) const;

  // "a .s32 register or immediate"
  [[nodiscard]] std::string expected(const OperandSpec& spec) const;
  // "%f1 (.f32)"
  [[nodiscard]] std::string describe(const Operand& operand) const;

 private:
  // The type that a form requires, and whether twice as wide is meant.
  struct Wanted {
    Type type = Type::none;
    int bits = 0;
  };
  [[nodiscard]] Wanted wanted(const OperandSpec& spec) const;
  [[nodiscard]] bool is_register(const Operand& operand, Wanted want, bool or_wider) const;
  [[nodiscard]] bool is_immediate(const Operand& operand, Wanted want) const;
  [[nodiscard]] bool is_predicate(const Operand& operand) const;
  [[nodiscard]] bool is_texture(const Operand& operand, Wanted want) const;
  [[nodiscard]] bool is_pair(const Operand& operand, Wanted want) const;
  [[nodiscard]] bool is_one_in_braces(const Operand& operand) const;
  [[nodiscard]] bool is_memory_operand(const Operand& operand, Wanted want, bool load) const;
  [[nodiscard]] bool is_vector(const Operand& operand, Wanted want, std::size_t count) const;
  [[nodiscard]] bool is_pack(const Operand& operand, Wanted want) const;
  [[nodiscard]] bool is_mov_source(const Operand& operand, Wanted want) const;
  [[nodiscard]] bool is_address(const Operand& operand) const;

  const Function& function_;
  const Instruction& instruction_;
};

}  // namespace wm::ptx
