#include "rewrite/ptx/constant_pointers.h"

#include <algorithm>
#include <vector>

#include "ptx/def_use.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

bool is_constant_pointer(const ptx::Variable& v) { return v.pointer && v.pointer_space == ptx::Space::constant; }

// Where the value of a register may come from.
struct Origin {
  bool parameter = false;  // a __constant parameter
  bool variable = false;   // the address of a variable of the module
};

class Origins {
 public:
  explicit Origins(const Function& kernel) : kernel_(kernel), by_register_(kernel.registers.size()) {
    while (pass()) {
    }
  }

  [[nodiscard]] Origin of(const Operand& operand) const {
    Origin origin;
    if (operand.kind == Operand::Kind::variable && operand.scope == Operand::Scope::module) origin.variable = true;
    ptx::for_each_register(operand, [&](std::uint32_t r) { merge(origin, by_register_[r]); });
    for (const Operand& element : operand.elements) {
      if (element.kind == Operand::Kind::variable) merge(origin, of(element));
    }
    return origin;
  }

 private:
  static bool merge(Origin& into, const Origin& from) {
    const Origin before = into;
    into.parameter |= from.parameter;
    into.variable |= from.variable;
    return into.parameter != before.parameter || into.variable != before.variable;
  }

  bool pass() {
    bool changed = false;
    for (const Instruction& i : kernel_.body) {
      if (!ptx::has_destination(i)) continue;
      const Origin from = origin_of_result(i);
      ptx::for_each_definition(i, [&](std::uint32_t r) { changed |= merge(by_register_[r], from); });
    }
    return changed;
  }

  [[nodiscard]] Origin origin_of_result(const Instruction& i) const {
    Origin origin;
    if (i.opcode == Opcode::ld) {
      const Operand& base = i.operands[1].elements[0];
      const bool from_parameter = base.kind == Operand::Kind::variable && base.scope == Operand::Scope::parameter;
      origin.parameter = from_parameter && is_constant_pointer(kernel_.parameters[base.index]);
      return origin;  // no other load yields a pointer to constant memory
    }
    for (std::size_t o = 1; o < i.operands.size(); ++o) merge(origin, of(i.operands[o]));
    return origin;
  }

  const Function& kernel_;
  std::vector<Origin> by_register_;
};

}  // namespace

std::optional<std::string> move_constant_parameters(Function& kernel) {
  if (std::none_of(kernel.parameters.begin(), kernel.parameters.end(), is_constant_pointer)) return std::nullopt;
  const Origins origins(kernel);
  for (Instruction& i : kernel.body) {
    if (i.opcode != Opcode::ld || i.space() != ptx::Space::constant) continue;
    const Origin origin = origins.of(i.operands[1]);
    if (!origin.parameter) continue;
    if (origin.variable) return "a load reads a __constant parameter or a constant of the program";
    std::replace(i.suffixes.begin(), i.suffixes.end(), ptx::Suffix::const_, ptx::Suffix::global);
  }
  for (ptx::Variable& v : kernel.parameters) {
    if (is_constant_pointer(v)) v.pointer_space = ptx::Space::global;
  }
  return std::nullopt;
}

}  // namespace wm::rewrite
