#include "rewrite/ptx/special_values.h"

#include <algorithm>
#include <string>
#include <utility>

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Type;

template <typename Visitor>
void for_each_operand(const Operand& operand, const Visitor& visit) {
  visit(operand);
  for (const Operand& element : operand.elements) for_each_operand(element, visit);
}

const Operand* direct_callee(const Instruction& instruction) {
  if (instruction.opcode != Opcode::call) return nullptr;
  return instruction.operands[1].kind == Operand::Kind::function ? &instruction.operands[1] : nullptr;
}

// Functions whose address is taken: callers that the module does not show may call them.
std::set<std::string> functions_with_address(const ptx::Module& module) {
  std::set<std::string> names;
  for (const ptx::Variable& v : module.variables) {
    for (const ptx::Relocation& r : v.relocations) names.insert(r.symbol);
  }
  for (const Function& f : module.functions) {
    for (const ptx::CallTable& table : f.call_tables) {
      for (const std::uint32_t callee : table.functions) names.insert(module.functions[callee].name);
    }
    for (const Instruction& i : f.body) {
      if (i.opcode == Opcode::call) continue;
      for (const Operand& o : i.operands) {
        for_each_operand(o, [&](const Operand& part) {
          if (part.kind == Operand::Kind::function) names.insert(module.functions[part.index].name);
        });
      }
    }
  }
  return names;
}

void replace_reads(Operand& operand, const SpecialRegisters& values) {
  if (operand.kind == Operand::Kind::special) {
    if (const auto value = values.find(operand.special); value != values.end()) operand = build::operand(value->second);
  }
  for (Operand& element : operand.elements) replace_reads(element, values);
}

std::string value_name(Special special) {
  std::string name = "wm_" + std::string(ptx::name(special).substr(1));
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

ptx::Variable word(const std::string& name) {
  ptx::Variable v;
  v.name = name;
  v.space = ptx::Space::param;
  v.type = Type::b32;
  v.align = 4;
  return v;
}

}  // namespace

Result<SpecialNeeds> find_special_needs(const ptx::Module& module, std::span<const Special> replaced) {
  SpecialNeeds needs;
  needs.by_function.resize(module.functions.size());
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    for (const Instruction& i : module.functions[f].body) {
      for (const Operand& o : i.operands) {
        for_each_operand(o, [&](const Operand& part) {
          if (part.kind != Operand::Kind::special) return;
          if (std::find(replaced.begin(), replaced.end(), part.special) == replaced.end()) return;
          needs.by_function[f].insert(part.special);
        });
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
      SpecialSet& own = needs.by_function[f];
      const std::size_t before = own.size();
      for (const Instruction& i : module.functions[f].body) {
        if (const Operand* callee = direct_callee(i)) {
          const SpecialSet& theirs = needs.by_function[callee->index];
          own.insert(theirs.begin(), theirs.end());
        }
      }
      changed |= own.size() != before;
    }
  }
  const auto addressed = functions_with_address(module);
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    const Function& function = module.functions[f];
    if (!function.entry && !needs.by_function[f].empty() && addressed.contains(function.name)) {
      return Error{"function '" + function.name + "' reads " + std::string(ptx::name(*needs.by_function[f].begin())) +
                   " and its address is taken"};
    }
  }
  return needs;
}

void use_special_values(FunctionEditor& editor, const SpecialNeeds& needs, const SpecialRegisters& values) {
  while (!editor.at_end()) {
    Instruction instruction = editor.current();
    editor.place_labels();
    for (Operand& o : instruction.operands) replace_reads(o, values);
    if (const Operand* callee = direct_callee(instruction)) {
      for (const Special special : needs.by_function[callee->index]) {
        const std::uint32_t argument = editor.add_variable(word(value_name(special) + "_argument"));
        const Operand place = build::variable(Operand::Scope::local, argument);
        editor.emit(build::make(Opcode::st, {ptx::Suffix::param}, {Type::b32},
                                {build::at(place), build::operand(values.at(special))}));
        instruction.operands[2].elements.push_back(place);
      }
    }
    editor.replace(std::move(instruction));
  }
}

void pass_special_values(ptx::Module& module, const SpecialNeeds& needs) {
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    Function& function = module.functions[f];
    if (function.entry || needs.by_function[f].empty()) continue;
    FunctionEditor editor(function);
    SpecialRegisters values;
    for (const Special special : needs.by_function[f]) {
      const std::uint32_t parameter = editor.add_parameter(word(value_name(special)));
      const build::Reg reg = editor.add_register("%" + value_name(special), Type::b32);
      editor.emit(build::make(Opcode::ld, {ptx::Suffix::param}, {Type::b32},
                              {build::operand(reg), build::at(build::variable(Operand::Scope::parameter, parameter))}));
      values.emplace(special, reg);
    }
    use_special_values(editor, needs, values);
    editor.finish();
  }
}

}  // namespace wm::rewrite
