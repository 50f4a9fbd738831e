#include "ptx/scope.h"

#include <charconv>
#include <fmt/format.h>

namespace wm::ptx {
namespace {

// Whether `name` is `prefix` and a number below `count`, written without leading zeros.
bool in_range(std::string_view name, std::string_view prefix, std::uint32_t count) {
  if (name.size() <= prefix.size() || !name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  if (name.size() > 1 && name[0] == '0') return false;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() && number < count;
}

}  // namespace

void Scopes::insert(const Token& name, Entry entry) {
  if (!scopes_.back().names.emplace(name.text, entry).second || scopes_.back().labels.contains(name.text)) {
    tokens_.fail(name.position, fmt::format("'{}' is already declared in this scope", name.text));
  }
}

void Scopes::declare_register(const Token& name, Type type) { insert(name, {{Symbol::Kind::reg, kUnused}, type}); }

void Scopes::declare_range(const Token& prefix, std::uint32_t count, Type type) {
  for (const Range& range : scopes_.back().ranges) {
    if (range.prefix == prefix.text) {
      tokens_.fail(prefix.position, fmt::format("'{}<…>' is already declared in this scope", prefix.text));
    }
  }
  scopes_.back().ranges.push_back({prefix.text, count, type});
}

std::string Scopes::declare(const Token& name, Symbol symbol) {
  insert(name, {symbol, Type::none});
  return claim(name.text, symbol);
}

std::optional<Symbol> Scopes::find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto at = scope->names.find(name); at != scope->names.end()) return materialize(at->second, at->first);
    for (const Range& range : scope->ranges) {
      if (!in_range(name, range.prefix, range.count)) continue;
      Entry& entry = scope->names[name];
      entry = {{Symbol::Kind::reg, kUnused}, range.type};
      return materialize(entry, name);
    }
  }
  return std::nullopt;
}

Symbol Scopes::materialize(Entry& entry, std::string_view name) {
  if (entry.symbol.kind == Symbol::Kind::reg && entry.symbol.index == kUnused) {
    entry.symbol.index = static_cast<std::uint32_t>(function_.registers.size());
    function_.registers.push_back({claim(name, entry.symbol), entry.type});
  }
  return entry.symbol;
}

std::string Scopes::unique(std::string_view name) {
  std::string candidate(name);
  if (!taken_.contains(candidate)) return candidate;
  // The search resumes where the last one ended: inline assembly declares the same names thousands of times.
  std::uint32_t& last = suffixes_[candidate];
  do {
    candidate = fmt::format("{}_{}", name, ++last);
  } while (taken_.contains(candidate));
  return candidate;
}

std::string Scopes::claim(std::string_view name, Symbol symbol) {
  std::string chosen = unique(name);
  taken_.emplace(chosen, symbol);
  return chosen;
}

std::string* Scopes::name_of(Symbol symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::reg:
      return &function_.registers[symbol.index].name;
    case Symbol::Kind::result:
      return &function_.results[symbol.index].name;
    case Symbol::Kind::parameter:
      return &function_.parameters[symbol.index].name;
    case Symbol::Kind::variable:
      return &function_.variables[symbol.index].name;
    case Symbol::Kind::branch_table:
      return &function_.branch_tables[symbol.index].name;
    case Symbol::Kind::call_table:
      return &function_.call_tables[symbol.index].name;
    case Symbol::Kind::prototype:
      return &function_.prototypes[symbol.index].name;
    case Symbol::Kind::module:
      break;
  }
  return nullptr;
}

void Scopes::use_module_name(std::string_view name) {
  std::string key(name);
  const auto at = taken_.find(key);
  if (at == taken_.end()) {
    taken_.emplace(std::move(key), Symbol{Symbol::Kind::module, 0});
    return;
  }
  // A local of a scope that is closed was printed under this name, so the new one takes another.
  if (std::string* local = name_of(at->second)) {
    const Symbol symbol = at->second;
    *local = claim(name, symbol);
    taken_[key] = {Symbol::Kind::module, 0};
  }
}

void Scopes::define_label(const Token& name) {
  Scope& scope = scopes_.back();
  const auto index = static_cast<std::uint32_t>(definitions_.size());
  if (scope.names.contains(name.text) || !scope.labels.emplace(name.text, index).second) {
    tokens_.fail(name.position, fmt::format("'{}' is already declared in this scope", name.text));
  }
  definitions_.push_back({name.text, static_cast<std::uint32_t>(function_.body.size())});
}

std::uint32_t Scopes::use_label(const Token& name) {
  const auto number = static_cast<std::uint32_t>(label_of_use_.size());
  label_of_use_.push_back(kUnused);
  scopes_.back().uses.push_back({name, number});
  return number;
}

void Scopes::settle_uses(Scope& scope, Scope* parent) {
  for (const LabelUse& use : scope.uses) {
    if (const auto at = scope.labels.find(use.name.text); at != scope.labels.end()) {
      label_of_use_[use.number] = at->second;
    } else if (parent != nullptr) {
      parent->uses.push_back(use);
    } else {
      tokens_.fail(use.name.position, fmt::format("label '{}' is not defined", use.name.text));
    }
  }
}

void Scopes::close() {
  settle_uses(scopes_.back(), &scopes_[scopes_.size() - 2]);
  scopes_.pop_back();
}

void Scopes::place_labels() {
  for (const std::uint32_t definition : label_of_use_) definitions_[definition].index = 0;
  for (Definition& definition : definitions_) {
    if (definition.index == kUnused) continue;
    definition.index = static_cast<std::uint32_t>(function_.labels.size());
    // No later declaration can reuse a label's name, so it does not matter which symbol holds it.
    function_.labels.push_back({claim(definition.name, {Symbol::Kind::module, 0}), definition.at});
  }
}

void Scopes::finish() {
  settle_uses(scopes_.back(), nullptr);
  place_labels();
  const auto settled = [&](std::uint32_t use) { return definitions_[label_of_use_[use]].index; };
  for (Instruction& instruction : function_.body)
    for (Operand& operand : instruction.operands)
      if (operand.kind == Operand::Kind::label) operand.index = settled(operand.index);
  for (BranchTable& table : function_.branch_tables)
    for (std::uint32_t& label : table.labels) label = settled(label);
}

}  // namespace wm::ptx
