// Data shared by the functions of one kernel: the reachable functions, and the places of shared variables and
// parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "exec/program.h"
#include "ptx/ir.h"

namespace wm::exec {

struct ModuleLayout {
  // Functions in the order they were reached, the kernel first: indices into Module::functions.
  std::vector<std::uint32_t> functions;
  std::map<std::uint32_t, std::uint32_t> number;  // Module::functions index to the place in `functions`
  // Shared variables: by function (kModuleScope for the module's own) and variable index, the offset in a block's
  // memory.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> shared;
  std::uint64_t static_shared_bytes = 0;

  static constexpr std::uint32_t kModuleScope = 0xffffffffU;
};

// Fails for a called function without a body, or too much shared memory.
Result<ModuleLayout> layout_module(const ptx::Module& module, std::uint32_t kernel, const std::string& file);

// The function that the machine provides under this declaration, if there is one.
[[nodiscard]] ProgramFunction::Builtin builtin_of(const ptx::Function& function);

// Calls `body` with every operand of every instruction, those inside others too: (instruction, operand).
template <typename Body>
void for_each_operand(const ptx::Function& function, Body&& body) {
  for (const ptx::Instruction& instruction : function.body) {
    const auto visit = [&](const auto& self, const ptx::Operand& operand) -> void {
      body(instruction, operand);
      for (const ptx::Operand& element : operand.elements) self(self, element);
    };
    for (const ptx::Operand& operand : instruction.operands) visit(visit, operand);
  }
}

[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t n, std::uint64_t align) {
  return align <= 1 ? n : (n + align - 1) / align * align;
}

}  // namespace wm::exec
