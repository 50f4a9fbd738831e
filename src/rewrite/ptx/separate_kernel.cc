#include "rewrite/ptx/separate_kernel.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ptx/opaque.h"
#include "rewrite/ptx/block_dependence.h"
#include "rewrite/ptx/function_editor.h"
#include "rewrite/ptx/operands.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Module;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Suffix;
using ptx::Type;
using ptx::Variable;

std::optional<std::string> reason_against(const Module& module, std::uint32_t function) {
  const Function& f = module.functions[function];
  if (f.refusal) return f.refusal->what;
  if (f.declaration) return "it calls '" + f.name + "' of the driver or of another module";
  for (const Instruction& i : f.body) {
    if (auto why = block_dependence(i)) return why;
  }
  return waiting_loop(module, function);
}

bool asks_for_constant_space(const Function& f) {
  return std::any_of(f.body.begin(), f.body.end(),
                     [](const Instruction& i) { return i.opcode == Opcode::isspacep && i.has(Suffix::const_); });
}

// The module's variables that the kernel uses, by their index: each is replaced by an address or copied.
struct VariablePlan {
  std::map<std::uint32_t, std::uint64_t> addresses;  // in the memory of the loaded module
  std::map<std::uint32_t, std::uint32_t> copies;     // by their index in the new module
  bool moves_constants = false;
};

class KernelSeparator {
 public:
  KernelSeparator(const Module& module, std::uint32_t kernel)
      : module_(module), kernel_(kernel), reached_(reachable_functions(module, kernel)) {}

  [[nodiscard]] std::optional<std::string> refusal() const {
    if (module_.address_size != 64) return "its addresses have 32 bits";
    if (auto why = cluster_directive(module_.functions[kernel_])) return why;
    for (const std::uint32_t f : reached_) {
      if (auto why = reason_against(module_, f)) return why;
    }
    return std::nullopt;
  }

  Result<Module> run(const AddressOf& address_of) const {
    auto plan = plan_variables(address_of);
    if (!plan) return plan.error();
    Module made;
    made.version_major = module_.version_major;
    made.version_minor = module_.version_minor;
    made.targets = module_.targets;
    made.address_size = module_.address_size;
    made.files = module_.files;
    for (const std::uint32_t f : reached_) {
      made.functions.push_back(module_.functions[f]);
      // A kernel that is internal to its source file must be found by its name here.
      if (f == kernel_) made.functions.back().linkage = ptx::Linkage::visible;
    }
    for (auto& [index, copy] : plan->copies) {
      copy = static_cast<std::uint32_t>(made.variables.size());
      made.variables.push_back(module_.variables[index]);
    }
    for (Function& f : made.functions) {
      use_addresses(f, *plan);
      renumber(f, *plan);
    }
    return made;
  }

 private:
  [[nodiscard]] std::set<std::uint32_t> used_variables() const {
    std::set<std::uint32_t> used;
    for (const std::uint32_t f : reached_) {
      for (const Instruction& i : module_.functions[f].body) {
        visit_operands(i, [&](const Operand& o) {
          if (is_module_variable(o)) used.insert(o.index);
        });
      }
    }
    return used;
  }

  Result<VariablePlan> plan_variables(const AddressOf& address_of) const {
    VariablePlan plan;
    bool has_private_constants = false;
    for (const std::uint32_t index : used_variables()) {
      const Variable& v = module_.variables[index];
      if (ptx::is_opaque(v.type)) return Error{"it uses the texture or surface '" + v.name + "'"};
      if (v.space == Space::shared) {
        plan.copies.emplace(index, 0);
        continue;
      }
      const auto address = address_of(v.name);
      const bool is_constant = v.space == Space::constant;
      if (address) {
        plan.addresses.emplace(index, *address);
        plan.moves_constants = plan.moves_constants || is_constant;
      } else if (is_constant && v.relocations.empty() && v.linkage != ptx::Linkage::external) {
        // Only the host could change a constant, which it cannot without the driver knowing the name.
        plan.copies.emplace(index, 0);
        has_private_constants = true;
      } else {
        return Error{"the driver gives no address for its variable '" + v.name + "'"};
      }
    }
    if (plan.moves_constants && has_private_constants) return Error{"only some of its constants have addresses"};
    const bool asks = std::any_of(reached_.begin(), reached_.end(),
                                  [this](std::uint32_t f) { return asks_for_constant_space(module_.functions[f]); });
    if (plan.moves_constants && asks) return Error{"it asks whether an address is that of a constant"};
    return plan;
  }

  static void use_addresses(Function& function, const VariablePlan& plan) {
    FunctionEditor editor(function);
    while (!editor.at_end()) {
      Instruction changed = editor.current();
      if (plan.moves_constants)
        std::replace(changed.suffixes.begin(), changed.suffixes.end(), Suffix::const_, Suffix::global);
      editor.place_labels();
      visit_operands(changed, [&](Operand& o) {
        if (!is_module_variable(o)) return;
        const auto at = plan.addresses.find(o.index);
        if (at == plan.addresses.end()) return;
        // An instruction takes no address of 64 bits in its brackets.
        const build::Reg reg = editor.add_register("%wm_address", Type::b64);
        editor.emit(build::mov(reg, build::number(at->second + static_cast<std::uint64_t>(o.offset)), Type::u64));
        o = build::operand(reg);
      });
      editor.replace(std::move(changed));
    }
    editor.finish();
  }

  void renumber(Function& function, const VariablePlan& plan) const {
    for (Instruction& i : function.body) {
      visit_operands(i, [&](Operand& o) {
        if (is_module_variable(o)) o.index = plan.copies.at(o.index);
        if (o.kind != Operand::Kind::function) return;
        const auto at = std::lower_bound(reached_.begin(), reached_.end(), o.index);
        o.index = static_cast<std::uint32_t>(at - reached_.begin());
      });
    }
  }

  const Module& module_;
  const std::uint32_t kernel_;
  const std::vector<std::uint32_t> reached_;
};

}  // namespace

Result<Module> separate_kernel(const Module& module, const std::string& kernel, const AddressOf& address_of) {
  const auto it = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const Function& f) { return f.entry && f.name == kernel; });
  if (it == module.functions.end()) return Error{"its PTX is not in the program"};
  const KernelSeparator separator(module, static_cast<std::uint32_t>(it - module.functions.begin()));
  if (auto why = separator.refusal()) return Error{*why};
  return separator.run(address_of);
}

}  // namespace wm::rewrite
