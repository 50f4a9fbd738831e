#include "ptx/print.h"

#include <algorithm>
#include <fmt/format.h>

#include "ptx/print_declarations.h"

namespace wm::ptx {
namespace {

// The module and function in which the names of an operand are looked up.
struct Names {
  const Module& module;
  const Function& function;
};

// "+-4" rather than "-4": ptxas takes no other sign after an address.
std::string plus(std::int64_t offset) { return offset == 0 ? "" : fmt::format("+{}", offset); }

std::string operand_text(const Names& names, const Operand& operand);

std::string joined(const Names& names, const std::vector<Operand>& operands, std::string_view separator) {
  std::string text;
  for (const Operand& operand : operands) {
    if (!text.empty()) text += separator;
    text += operand_text(names, operand);
  }
  return text;
}

const std::string& variable_name(const Names& names, const Operand& operand) {
  switch (operand.scope) {
    case Operand::Scope::parameter:
      return names.function.parameters[operand.index].name;
    case Operand::Scope::result:
      return names.function.results[operand.index].name;
    case Operand::Scope::local:
      return names.function.variables[operand.index].name;
    case Operand::Scope::module:
      break;
  }
  return names.module.variables[operand.index].name;
}

// ".b3210", ".h10": the letter in the top byte, the count of digits below it, then the digits from the last up.
std::string selection_text(std::uint64_t bits) {
  if (bits == 0) return {};
  std::string text{'.', static_cast<char>(bits >> 24)};
  for (std::uint64_t i = bits >> 16 & 0xff; i-- > 0;) text += static_cast<char>('0' + (bits >> (4 * i) & 0xf));
  return text;
}

std::string operand_text(const Names& names, const Operand& operand) {
  using Kind = Operand::Kind;
  const Function& function = names.function;
  switch (operand.kind) {
    case Kind::reg:
      return (operand.negated ? "!" : "") + function.registers[operand.index].name + selection_text(operand.bits);
    case Kind::integer:
      return fmt::format("{}", static_cast<std::int64_t>(operand.bits));
    case Kind::f32:
      return fmt::format("0f{:08X}", operand.bits);
    case Kind::f64:
      return fmt::format("0d{:016X}", operand.bits);
    case Kind::special:
      return std::string(name(operand.special));
    case Kind::variable:
      return variable_name(names, operand) + plus(operand.offset);
    case Kind::address:
      return fmt::format("[{}{}]", operand_text(names, operand.elements[0]), plus(operand.offset));
    case Kind::vector:
      return fmt::format("{{{}}}", joined(names, operand.elements, ", "));
    case Kind::label:
      return function.labels[operand.index].name;
    case Kind::function:
      return names.module.functions[operand.index].name;
    case Kind::branch_targets:
      return function.branch_tables[operand.index].name;
    case Kind::call_targets:
      return function.call_tables[operand.index].name;
    case Kind::prototype:
      return function.prototypes[operand.index].name;
    case Kind::arguments:
      return fmt::format("({})", joined(names, operand.elements, ", "));
    case Kind::pair:
      return joined(names, operand.elements, "|");
    case Kind::sink:
      return "_";
    case Kind::texture:
      return fmt::format("[{}]", joined(names, operand.elements, ", "));
  }
  return {};
}

// The suffixes that stand behind the types although others stand before them.
bool follows_types(Opcode opcode, Suffix suffix) {
  if (opcode == Opcode::mma) return suffix == Suffix::xor_ || suffix == Suffix::and_ || suffix == Suffix::popc;
  const bool is_surface_access =
      opcode == Opcode::suld_b || opcode == Opcode::sust_b || opcode == Opcode::sust_p || opcode == Opcode::sured_b;
  if (!is_surface_access) return false;
  return suffix == Suffix::trap || suffix == Suffix::clamp || suffix == Suffix::zero;
}

std::string mnemonic(const Instruction& instruction) {
  std::string suffixes, after;
  for (const Suffix s : instruction.suffixes)
    (follows_types(instruction.opcode, s) ? after : suffixes) += fmt::format(".{}", name(s));
  std::string types;
  for (const Type t : instruction.types) types += fmt::format(".{}", name(t));
  const bool types_first = instruction.opcode == Opcode::prmt ||
                           (instruction.opcode >= Opcode::vadd2 && instruction.opcode <= Opcode::vset4);
  return fmt::format("{}{}{}{}", name(instruction.opcode), types_first ? types : suffixes,
                     types_first ? suffixes : types, after);
}

std::string instruction_text(const Names& names, const Instruction& instruction) {
  std::string text;
  if (instruction.guard.present) {
    text = fmt::format("@{}{} ", instruction.guard.negated ? "!" : "",
                       names.function.registers[instruction.guard.reg].name);
  }
  text += mnemonic(instruction);
  bool first = true;
  for (const Operand& operand : instruction.operands) {
    // A call's empty lists are not written.
    if (operand.kind == Operand::Kind::arguments && operand.elements.empty()) continue;
    text += first ? " " : ", ";
    text += operand_text(names, operand);
    first = false;
  }
  return text + ";";
}

std::string parameter_list(const std::vector<Variable>& variables) {
  std::string text;
  for (const Variable& v : variables) text += (text.empty() ? "" : ", ") + print_parameter(v);
  return text;
}

std::string signature(const Function& function) {
  std::string text = fmt::format("{}{}", keyword(function.linkage), function.entry ? ".entry " : ".func ");
  if (!function.results.empty()) text += fmt::format("({}) ", parameter_list(function.results));
  text += function.name + "(";
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    text += fmt::format("{}\n  {}", i == 0 ? "" : ",", print_parameter(function.parameters[i]));
  }
  text += function.parameters.empty() ? ")" : "\n)";
  for (const Directive& d : function.directives) {
    text += fmt::format("\n.{}", d.name);
    for (std::size_t i = 0; i < d.values.size(); ++i) text += fmt::format("{}{}", i == 0 ? " " : ", ", d.values[i]);
  }
  if (function.noreturn) text += "\n.noreturn";
  return text;
}

std::string prototype_text(const Prototype& prototype) {
  std::string text = fmt::format("  {}: .callprototype ", prototype.name);
  if (!prototype.results.empty()) text += fmt::format("({}) ", parameter_list(prototype.results));
  text += fmt::format("_ ({})", parameter_list(prototype.parameters));
  return text + (prototype.noreturn ? " .noreturn;\n" : ";\n");
}

std::string tables(const Names& names) {
  std::string text;
  for (const BranchTable& table : names.function.branch_tables) {
    text += fmt::format("  {}: .branchtargets ", table.name);
    for (std::size_t i = 0; i < table.labels.size(); ++i) {
      text += (i == 0 ? "" : ", ") + names.function.labels[table.labels[i]].name;
    }
    text += ";\n";
  }
  for (const CallTable& table : names.function.call_tables) {
    text += fmt::format("  {}: .calltargets ", table.name);
    for (std::size_t i = 0; i < table.functions.size(); ++i) {
      text += (i == 0 ? "" : ", ") + names.module.functions[table.functions[i]].name;
    }
    text += ";\n";
  }
  for (const Prototype& prototype : names.function.prototypes) text += prototype_text(prototype);
  return text;
}

// The labels that are referenced, in the order of the body.
std::vector<const Label*> labels_in_order(const Function& function) {
  std::vector<bool> used(function.labels.size());
  for (const Instruction& instruction : function.body)
    for (const Operand& operand : instruction.operands)
      if (operand.kind == Operand::Kind::label) used[operand.index] = true;
  for (const BranchTable& table : function.branch_tables)
    for (const std::uint32_t label : table.labels) used[label] = true;
  std::vector<const Label*> order;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) order.push_back(&function.labels[i]);
  std::stable_sort(order.begin(), order.end(), [](const Label* a, const Label* b) { return a->at < b->at; });
  return order;
}

std::string body(const Names& names) {
  const Function& function = names.function;
  std::string text = "{\n" + print_registers(names.module, function);
  for (const Variable& v : function.variables) text += fmt::format("  {}\n", print_variable(v));
  text += tables(names);
  const std::vector<const Label*> labels = labels_in_order(function);
  auto label = labels.begin();
  auto pragma = function.pragmas.begin();
  SourceLine source;
  for (std::uint32_t i = 0; i <= function.body.size(); ++i) {
    for (; label != labels.end() && (*label)->at <= i; ++label) text += fmt::format("{}:\n", (*label)->name);
    for (; pragma != function.pragmas.end() && pragma->at <= i; ++pragma) {
      text += fmt::format("  .pragma \"{}\";\n", pragma->text);
    }
    if (i == function.body.size()) break;
    const Instruction& instruction = function.body[i];
    // Instructions that a pass has inserted have no file; files are numbered from 1.
    if (instruction.source != source && instruction.source.file != 0) {
      source = instruction.source;
      text += fmt::format("  .loc {} {} {}\n", source.file, source.line, source.column);
    }
    text += fmt::format("  {}\n", instruction_text(names, instruction));
  }
  return text + "}\n";
}

}  // namespace

std::string print(const Module& module) {
  std::string text = fmt::format(".version {}.{}\n.target ", module.version_major, module.version_minor);
  for (std::size_t i = 0; i < module.targets.size(); ++i) text += (i == 0 ? "" : ", ") + module.targets[i];
  text += fmt::format("\n.address_size {}\n", module.address_size);
  for (std::size_t i = 1; i < module.files.size(); ++i) {
    if (module.files[i].empty() && i + 1 != module.files.size()) continue;
    text += fmt::format(".file {} \"{}\"\n", i, module.files[i]);
  }
  for (const Function& f : module.functions)
    if (!f.entry) text += fmt::format("\n{};\n", signature(f));
  if (!module.variables.empty()) text += "\n";
  for (const Variable& v : module.variables) text += print_variable(v) + "\n";
  for (const Function& f : module.functions)
    if (!f.declaration) text += fmt::format("\n{}\n{}", signature(f), body({module, f}));
  return text;
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  return instruction_text({module, function}, instruction);
}

}  // namespace wm::ptx
