// Register declarations: %r<10> where one type owns a prefix and its numbers, by name otherwise.
#include <fmt/format.h>
#include <map>
#include <set>

#include "ptx/print_declarations.h"

namespace wm::ptx {
namespace {

struct Numbered {
  std::string prefix;
  std::uint64_t number = 0;
  bool valid = false;
};

// "%r12" is %r and 12; the number has no leading zeros, so every name is split in one way.
Numbered split(const std::string& name) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  while (begin + 1 < name.size() && name[begin] == '0') ++begin;
  if (begin == name.size() || begin == 0 || name.size() - begin > 7) return {};
  return {name.substr(0, begin), std::stoul(name.substr(begin)), true};
}

void mark(const Operand& operand, std::vector<bool>& used) {
  if (operand.kind == Operand::Kind::reg) used[operand.index] = true;
  for (const Operand& element : operand.elements) mark(element, used);
}

// Registers some instruction names, less those that are parameters.
std::vector<bool> registers_to_declare(const Function& function) {
  std::vector<bool> used(function.registers.size());
  for (const Instruction& instruction : function.body) {
    if (instruction.guard.present) used[instruction.guard.reg] = true;
    for (const Operand& operand : instruction.operands) mark(operand, used);
  }
  std::set<std::string> parameters;
  for (const auto* list : {&function.results, &function.parameters})
    for (const Variable& v : *list)
      if (v.space == Space::reg) parameters.insert(v.name);
  if (parameters.empty()) return used;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (parameters.contains(function.registers[i].name)) used[i] = false;
  }
  return used;
}

// Prefixes of names that are not registers to declare: a range there would capture them.
std::set<std::string> foreign_prefixes(const Module& module, const Function& function) {
  std::set<std::string> prefixes;
  const auto add = [&](const std::string& name) {
    if (const Numbered n = split(name); n.valid) prefixes.insert(n.prefix);
  };
  for (const Variable& v : module.variables) add(v.name);
  for (const Function& f : module.functions) add(f.name);
  for (const auto* list : {&function.results, &function.parameters, &function.variables})
    for (const Variable& v : *list) add(v.name);
  for (const Label& l : function.labels) add(l.name);
  for (const BranchTable& t : function.branch_tables) add(t.name);
  for (const CallTable& t : function.call_tables) add(t.name);
  for (const Prototype& p : function.prototypes) add(p.name);
  return prefixes;
}

}  // namespace

std::string print_registers(const Module& module, const Function& function) {
  const std::vector<bool> used = registers_to_declare(function);
  const std::set<std::string> foreign = foreign_prefixes(module, function);
  std::map<std::string, std::set<Type>> types_of;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (const Numbered n = split(function.registers[i].name); used[i] && n.valid) {
      types_of[n.prefix].insert(function.registers[i].type);
    }
  }
  std::map<std::pair<Type, std::string>, std::uint64_t> ranges;
  std::set<std::pair<Type, std::string>> singles;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const Register& reg = function.registers[i];
    const Numbered n = split(reg.name);
    if (n.valid && !foreign.contains(n.prefix) && types_of[n.prefix].size() == 1) {
      std::uint64_t& count = ranges[{reg.type, n.prefix}];
      count = std::max(count, n.number + 1);
    } else {
      singles.insert({reg.type, reg.name});
    }
  }
  std::string text;
  for (const auto& [key, count] : ranges)
    text += fmt::format("  .reg .{} {}<{}>;\n", name(key.first), key.second, count);
  for (const auto& [type, single] : singles) text += fmt::format("  .reg .{} {};\n", name(type), single);
  return text;
}

}  // namespace wm::ptx
