#include "exec/decode/module_layout.h"

#include <algorithm>
#include <fmt/format.h>

#include "exec/address_space.h"

namespace wm::exec {

namespace {

using ptx::Operand;

constexpr std::uint64_t kDynamicAlign = 16;

bool is_dynamic(const ptx::Variable& v) {
  return v.linkage == ptx::Linkage::external || (!v.shape.empty() && v.shape[0] == 0);
}

class Layouter {
 public:
  Layouter(const ptx::Module& module, const std::string& file) : module_(module), file_(file) {}

  Result<ModuleLayout> run(std::uint32_t kernel) {
    reach(kernel);
    for (std::size_t i = 0; i < layout_.functions.size(); ++i) {
      const std::uint32_t index = layout_.functions[i];
      const ptx::Function& function = module_.functions[index];
      if (function.declaration && builtin_of(function) == ProgramFunction::Builtin::none) {
        return Error{fmt::format("'{}' is called and has no body in this module", function.name),
                     {file_, function.position.line, function.position.column}};
      }
      if (function.refusal)
        return Error{function.refusal->what,
                     {file_, function.refusal->position.line, function.refusal->position.column}};
      scan(function);
    }
    if (auto done = place_shared(); !done) return done.error();
    return std::move(layout_);
  }

 private:
  void reach(std::uint32_t function) {
    if (layout_.number.contains(function)) return;
    layout_.number[function] = static_cast<std::uint32_t>(layout_.functions.size());
    layout_.functions.push_back(function);
  }

  // An indirect call can reach the functions of its list; without a list, every function of the module.
  void scan(const ptx::Function& function) {
    for_each_operand(function, [&](const ptx::Instruction&, const Operand& operand) {
      if (operand.kind == Operand::Kind::function && !module_.functions[operand.index].entry) reach(operand.index);
      if (operand.kind == Operand::Kind::call_targets)
        for (const std::uint32_t f : function.call_tables[operand.index].functions) reach(f);
      if (operand.kind == Operand::Kind::prototype)
        for (std::uint32_t f = 0; f < module_.functions.size(); ++f)
          if (!module_.functions[f].entry && !module_.functions[f].declaration) reach(f);
      if (operand.kind == Operand::Kind::variable && operand.scope == Operand::Scope::module &&
          module_.variables[operand.index].space == ptx::Space::shared)
        module_shared_.push_back(operand.index);
    });
  }

  Result<void> place_shared() {
    std::sort(module_shared_.begin(), module_shared_.end());
    module_shared_.erase(std::unique(module_shared_.begin(), module_shared_.end()), module_shared_.end());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> dynamic;
    const auto place = [&](std::uint32_t scope, std::uint32_t index, const ptx::Variable& v) {
      if (is_dynamic(v)) {
        dynamic.emplace_back(scope, index);
        return;
      }
      layout_.static_shared_bytes = align_up(layout_.static_shared_bytes, v.align);
      layout_.shared[{scope, index}] = layout_.static_shared_bytes;
      // Beyond the window the exact sum does not matter; it only must not wrap.
      layout_.static_shared_bytes += std::min<std::uint64_t>(v.bytes(), kWindowBytes + 1);
    };
    for (const std::uint32_t index : module_shared_) place(ModuleLayout::kModuleScope, index, module_.variables[index]);
    for (const std::uint32_t f : layout_.functions) {
      const auto& variables = module_.functions[f].variables;
      for (std::uint32_t i = 0; i < variables.size(); ++i)
        if (variables[i].space == ptx::Space::shared) place(f, i, variables[i]);
    }
    if (layout_.static_shared_bytes > kWindowBytes) {
      return Error{fmt::format("kernel '{}' declares {} bytes of shared memory, more than any device has",
                               module_.functions[layout_.functions[0]].name, layout_.static_shared_bytes),
                   {file_, 0, 0}};
    }
    // Dynamic shared memory begins after the kernel's own variables.
    for (const auto& at : dynamic) layout_.shared[at] = align_up(layout_.static_shared_bytes, kDynamicAlign);
    return {};
  }

  const ptx::Module& module_;
  const std::string& file_;
  ModuleLayout layout_;
  std::vector<std::uint32_t> module_shared_;
};

}  // namespace

ProgramFunction::Builtin builtin_of(const ptx::Function& function) {
  using Builtin = ProgramFunction::Builtin;
  if (!function.declaration) return Builtin::none;
  if (function.name == "vprintf") return Builtin::vprintf;
  if (function.name == "__assertfail") return Builtin::assertfail;
  if (function.name == "malloc") return Builtin::malloc;
  return function.name == "free" ? Builtin::free : Builtin::none;
}

Result<ModuleLayout> layout_module(const ptx::Module& module, std::uint32_t kernel, const std::string& file) {
  return Layouter(module, file).run(kernel);
}

}  // namespace wm::exec
