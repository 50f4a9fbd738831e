#include "rewrite/ptx/function_removal.h"

#include <cstdint>
#include <utility>

#include "rewrite/ptx/operands.h"

namespace wm::rewrite {

void remove_functions(ptx::Module& module, const std::vector<bool>& removed) {
  std::vector<std::uint32_t> number(removed.size());
  std::vector<ptx::Function> kept;
  for (std::size_t f = 0; f < removed.size(); ++f) {
    number[f] = static_cast<std::uint32_t>(kept.size());
    if (!removed[f]) kept.push_back(std::move(module.functions[f]));
  }
  for (ptx::Function& f : kept) {
    for (ptx::Instruction& i : f.body) {
      visit_operands(i, [&](ptx::Operand& o) {
        if (o.kind == ptx::Operand::Kind::function) o.index = number[o.index];
      });
    }
    for (ptx::CallTable& table : f.call_tables) {
      for (std::uint32_t& callee : table.functions) callee = number[callee];
    }
  }
  module.functions = std::move(kept);
}

}  // namespace wm::rewrite
