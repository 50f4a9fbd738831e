#include "rewrite/ptx/refused_functions.h"

#include <algorithm>
#include <optional>

#include "rewrite/ptx/function_removal.h"
#include "rewrite/ptx/operands.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Module;

// The first function that `f` names and that is refused.
std::optional<std::uint32_t> refused_callee(const Function& f, const std::vector<bool>& refused) {
  std::optional<std::uint32_t> found;
  const auto look_at = [&](std::uint32_t callee) {
    if (!found && refused[callee]) found = callee;
  };
  for (const ptx::Instruction& i : f.body) {
    visit_operands(i, [&](const ptx::Operand& o) {
      if (o.kind == ptx::Operand::Kind::function) look_at(o.index);
    });
  }
  for (const ptx::CallTable& table : f.call_tables)
    std::for_each(table.functions.begin(), table.functions.end(), look_at);
  return found;
}

Result<void> not_held_by_variables(const Module& module, const std::vector<RefusedFunction>& refused) {
  for (const ptx::Variable& v : module.variables) {
    for (const ptx::Relocation& r : v.relocations) {
      for (const RefusedFunction& f : refused) {
        if (f.name != r.symbol) continue;
        return Error{
            "variable '" + v.name + "' holds the address of '" + f.name + "', which is refused: " + f.reason.what,
            f.reason.where};
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<RefusedFunction>> remove_refused_functions(Module& module, const std::string& file) {
  std::vector<bool> refused(module.functions.size());
  std::vector<RefusedFunction> answer;
  const auto refuse = [&](std::size_t index, Error reason) {
    const Function& f = module.functions[index];
    refused[index] = true;
    answer.push_back({f.name, f.entry, std::move(reason)});
  };
  const auto at = [&](ptx::Position p) { return Place{file, p.line, p.column}; };
  for (std::size_t f = 0; f < refused.size(); ++f) {
    if (const auto& refusal = module.functions[f].refusal) refuse(f, {refusal->what, at(refusal->position)});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t f = 0; f < refused.size(); ++f) {
      if (refused[f]) continue;
      const auto callee = refused_callee(module.functions[f], refused);
      if (!callee) continue;
      refuse(f,
             {"it names '" + module.functions[*callee].name + "', which is refused", at(module.functions[f].position)});
      changed = true;
    }
  }
  if (auto free = not_held_by_variables(module, answer); !free) return free.error();
  remove_functions(module, refused);
  return answer;
}

}  // namespace wm::rewrite
