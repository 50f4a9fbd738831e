#include "ptx/link.h"

#include <map>
#include <set>
#include <string>

namespace wm::ptx {

namespace {

bool is_internal(const Variable& v) { return v.linkage == Linkage::internal; }
bool is_internal(const Function& f) { return f.linkage == Linkage::internal && !f.entry && !f.declaration; }
bool is_declaration(const Variable& v) { return v.linkage == Linkage::external; }
bool is_declaration(const Function& f) { return f.declaration; }
bool yields(Linkage linkage) { return linkage == Linkage::weak || linkage == Linkage::common; }

// The symbols of one kind: their places in the linked module, by module and index.
template <typename Symbol>
class SymbolTable {
 public:
  // Internal symbols do not take the names of others. Called for all modules before the first `add`.
  void reserve_names(const std::vector<Symbol>& of_module) {
    for (const Symbol& s : of_module) {
      if (!is_internal(s)) names_.insert(s.name);
    }
  }
  // Adds the symbol of a module. Symbols of the same name become one unless they are internal.
  Result<void> add(std::size_t module, Symbol symbol) {
    auto& places = places_.emplace_back();
    places.module = module;
    if (is_internal(symbol)) {
      const std::string name = unused_name(symbol.name, module);
      places.at = append(name, std::move(symbol));
      return {};
    }
    const auto known = global_.find(symbol.name);
    if (known == global_.end()) {
      const std::string name = symbol.name;
      places.at = global_[name] = append(name, std::move(symbol));
      return {};
    }
    places.at = known->second;
    Symbol& before = symbols[known->second];
    const bool replaces =
        !is_declaration(symbol) && (is_declaration(before) || (yields(before.linkage) && !yields(symbol.linkage)));
    if (replaces) {
      before = std::move(symbol);
      origin[known->second] = module;
    } else if (!is_declaration(symbol) && !yields(symbol.linkage)) {
      return Error{"'" + symbol.name + "' is defined in two parts of the program"};
    }
    return {};
  }

  // Places of the symbols of a module, in their order there.
  [[nodiscard]] std::vector<std::uint32_t> of(std::size_t module) const {
    std::vector<std::uint32_t> all;
    for (const Place& p : places_) {
      if (p.module == module) all.push_back(p.at);
    }
    return all;
  }

  std::vector<Symbol> symbols;
  std::vector<std::size_t> origin;  // by symbol: the module of its definition

 private:
  struct Place {
    std::size_t module = 0;
    std::uint32_t at = 0;
  };

  std::uint32_t append(const std::string& name, Symbol symbol) {
    symbol.name = name;
    names_.insert(name);
    origin.push_back(places_.back().module);
    symbols.push_back(std::move(symbol));
    return static_cast<std::uint32_t>(symbols.size() - 1);
  }
  [[nodiscard]] std::string unused_name(const std::string& name, std::size_t module) const {
    std::string other = name;
    while (names_.contains(other)) other += "$" + std::to_string(module);
    return other;
  }

  std::vector<Place> places_;
  std::map<std::string, std::uint32_t> global_;
  std::set<std::string> names_;  // in use
};

// Moves the operands of a function to the places of the linked module.
class Relocator {
 public:
  Relocator(std::vector<std::uint32_t> variables, std::vector<std::uint32_t> functions)
      : variables_(std::move(variables)), functions_(std::move(functions)) {}

  void move(Function& f, std::uint32_t files_before) const {
    for (CallTable& table : f.call_tables) {
      for (std::uint32_t& function : table.functions) function = functions_[function];
    }
    for (Instruction& i : f.body) {
      if (i.source.line != 0) i.source.file += files_before;
      for (Operand& o : i.operands) move(o);
    }
  }

 private:
  void move(Operand& o) const {
    if (o.kind == Operand::Kind::variable && o.scope == Operand::Scope::module) o.index = variables_[o.index];
    if (o.kind == Operand::Kind::function) o.index = functions_[o.index];
    for (Operand& element : o.elements) move(element);
  }

  std::vector<std::uint32_t> variables_;
  std::vector<std::uint32_t> functions_;
};

// Initial values name their symbols; an internal one may have another name now.
void rename_relocations(Variable& variable, const Module& before, const std::vector<std::uint32_t>& variables,
                        const std::vector<std::uint32_t>& functions, const Module& linked) {
  for (Relocation& r : variable.relocations) {
    for (std::size_t i = 0; i < before.variables.size(); ++i)
      if (before.variables[i].name == r.symbol) r.symbol = linked.variables[variables[i]].name;
    for (std::size_t i = 0; i < before.functions.size(); ++i)
      if (before.functions[i].name == r.symbol) r.symbol = linked.functions[functions[i]].name;
  }
}

}  // namespace

Result<Module> link(std::vector<Module> modules) {
  if (modules.empty()) return Error{"no module to link"};
  if (modules.size() == 1) return std::move(modules.front());
  SymbolTable<Variable> variables;
  SymbolTable<Function> functions;
  Module linked;
  linked.files.emplace_back();
  std::vector<std::uint32_t> files_before;
  for (std::size_t m = 0; m < modules.size(); ++m) {
    Module& module = modules[m];
    if (std::pair(module.version_major, module.version_minor) > std::pair(linked.version_major, linked.version_minor)) {
      linked.version_major = module.version_major;
      linked.version_minor = module.version_minor;
      linked.targets = module.targets;
      linked.address_size = module.address_size;
    }
    files_before.push_back(static_cast<std::uint32_t>(linked.files.size()) - 1);
    if (!module.files.empty()) linked.files.insert(linked.files.end(), module.files.begin() + 1, module.files.end());
    variables.reserve_names(module.variables);
    functions.reserve_names(module.functions);
  }
  for (std::size_t m = 0; m < modules.size(); ++m) {
    for (const Variable& v : modules[m].variables)
      if (auto added = variables.add(m, v); !added) return added.error();
  }
  for (const bool entries : {false, true}) {  // device functions come before kernels, in every module too
    for (std::size_t m = 0; m < modules.size(); ++m) {
      for (const Function& f : modules[m].functions) {
        if (f.entry != entries) continue;
        if (auto added = functions.add(m, f); !added) return added.error();
      }
    }
  }
  linked.variables = std::move(variables.symbols);
  linked.functions = std::move(functions.symbols);
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const auto variable_places = variables.of(m), function_places = functions.of(m);
    const Relocator relocator(variable_places, function_places);
    for (std::size_t i = 0; i < linked.functions.size(); ++i)
      if (functions.origin[i] == m) relocator.move(linked.functions[i], files_before[m]);
    for (std::size_t i = 0; i < linked.variables.size(); ++i)
      if (variables.origin[i] == m)
        rename_relocations(linked.variables[i], modules[m], variable_places, function_places, linked);
  }
  return linked;
}

}  // namespace wm::ptx
