#include "cli/output/facts.h"

#include <set>

#include "base/json.h"

namespace wm::cli {
namespace {

std::uint64_t bytes_in(const std::vector<ptx::Variable>& variables, ptx::Space space) {
  std::uint64_t bytes = 0;
  for (const ptx::Variable& v : variables) bytes += v.space == space ? v.bytes() : 0;
  return bytes;
}

// The module's variables and functions that a function and its callees mention.
class Reach {
 public:
  explicit Reach(const ptx::Module& module) : module_(module) {}

  void follow(const ptx::Function& function) {
    if (!functions_.insert(function.name).second) return;
    shared += bytes_in(function.variables, ptx::Space::shared);
    local += bytes_in(function.variables, ptx::Space::local);
    for (const ptx::Instruction& instruction : function.body) {
      for (const ptx::Operand& operand : instruction.operands) look(operand);
    }
    for (const ptx::CallTable& table : function.call_tables) {
      for (const std::uint32_t index : table.functions) follow(module_.functions[index]);
    }
  }

  std::uint64_t shared = 0;
  std::uint64_t local = 0;

 private:
  void look(const ptx::Operand& operand) {
    using Kind = ptx::Operand::Kind;
    if (operand.kind == Kind::function) follow(module_.functions[operand.index]);
    if (operand.kind == Kind::variable && operand.scope == ptx::Operand::Scope::module) {
      const ptx::Variable& variable = module_.variables[operand.index];
      const bool fresh = variables_.insert(operand.index).second;
      if (fresh && variable.space == ptx::Space::shared) shared += variable.bytes();
    }
    for (const ptx::Operand& element : operand.elements) look(element);
  }

  const ptx::Module& module_;
  std::set<std::string> functions_;
  std::set<std::uint32_t> variables_;
};

}  // namespace

KernelFacts facts_of(const ptx::Module& module, const ptx::Function& kernel) {
  Reach reach(module);
  reach.follow(kernel);
  return {kernel.name,
          ptx::static_counts(kernel),
          ptx::register_demand(module, kernel),
          reach.shared,
          reach.local,
          bytes_in(kernel.parameters, ptx::Space::param)};
}

std::vector<KernelFacts> facts_of(const ptx::Module& module) {
  std::vector<KernelFacts> facts;
  for (const ptx::Function& function : module.functions) {
    if (function.entry && !function.declaration) facts.push_back(facts_of(module, function));
  }
  return facts;
}

Table table_of(const std::vector<KernelFacts>& facts) {
  Table table({"kernel", "instr.", "fp32", "fp64", "fp16", "int", "sfu", "tensor", "loads", "stores", "atomics",
               "barriers", "branches", "registers", "shared B", "local B"});
  for (const KernelFacts& f : facts) {
    const ptx::StaticCounts& c = f.counts;
    table.add({f.name, grouped(c.instructions), grouped(c.fp32), grouped(c.fp64), grouped(c.fp16), grouped(c.integer),
               grouped(c.special_function), grouped(c.tensor), grouped(c.loads), grouped(c.stores), grouped(c.atomics),
               grouped(c.barriers), grouped(c.branches), grouped(f.demand.registers), grouped(f.shared_bytes),
               grouped(f.local_bytes)});
  }
  return table;
}

nlohmann::ordered_json json_of(const KernelFacts& f) {
  const ptx::StaticCounts& c = f.counts;
  return {{"name", f.name},
          {"instructions", c.instructions},
          {"fp32", c.fp32},
          {"fp64", c.fp64},
          {"fp16", c.fp16},
          {"integer", c.integer},
          {"special_function", c.special_function},
          {"tensor", c.tensor},
          {"loads", c.loads},
          {"stores", c.stores},
          {"atomics", c.atomics},
          {"barriers", c.barriers},
          {"branches", c.branches},
          {"calls", c.calls},
          {"conversions", c.conversions},
          {"moves", c.moves},
          {"registers", f.demand.registers},
          {"predicates", f.demand.predicates},
          {"shared_bytes", f.shared_bytes},
          {"local_bytes", f.local_bytes},
          {"parameter_bytes", f.parameter_bytes}};
}

}  // namespace wm::cli
