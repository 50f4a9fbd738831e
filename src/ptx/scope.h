// The names inside one function: scopes nest in the text and are flattened in the IR, names made unique.
//
// A register, or a label, enters the function when it is first used, so what a text declares and never uses is not in
// the IR. Labels may be used before they are defined; they are settled when their scope closes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ir.h"
#include "ptx/token_stream.h"

namespace wm::ptx {

// The meaning of a name; `index` points into the matching list of the Function.
struct Symbol {
  enum class Kind : std::uint8_t { reg, result, parameter, variable, branch_table, call_table, prototype, module };
  Kind kind = Kind::reg;
  std::uint32_t index = 0;
};

class Scopes {
 public:
  Scopes(TokenStream& tokens, Function& function) : tokens_(tokens), function_(function), scopes_(1) {}

  void open() { scopes_.emplace_back(); }
  void close();
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  void declare_register(const Token& name, Type type);
  void declare_range(const Token& prefix, std::uint32_t count, Type type);
  // Declares `name`, which stands for function list element `symbol`; returns the name to give it.
  std::string declare(const Token& name, Symbol symbol);

  // Innermost first; nothing where the function does not know the name.
  std::optional<Symbol> find(std::string_view name);
  // The text means the module's `name` here: no local may print under it.
  void use_module_name(std::string_view name);

  void define_label(const Token& name);
  // A number to stand for the label until `finish` replaces it by its index into Function::labels.
  std::uint32_t use_label(const Token& name);

  // Closes the function's own scope and settles labels, in the body and in branch tables.
  void finish();

 private:
  static constexpr std::uint32_t kUnused = 0xffffffffU;
  struct Entry {
    Symbol symbol;
    Type type = Type::none;  // type of a register; its index is kUnused until it is used
  };
  struct Range {
    std::string_view prefix;
    std::uint32_t count = 0;
    Type type = Type::none;
  };
  struct LabelUse {
    Token name;
    std::uint32_t number = 0;
  };
  struct Scope {
    std::unordered_map<std::string_view, Entry> names;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, std::uint32_t> labels;  // into definitions_
    std::vector<LabelUse> uses;
  };
  struct Definition {
    std::string_view name;
    std::uint32_t at = 0;
    std::uint32_t index = kUnused;  // into Function::labels
  };

  Symbol materialize(Entry& entry, std::string_view name);
  std::string claim(std::string_view name, Symbol symbol);
  std::string unique(std::string_view name);
  std::string* name_of(Symbol symbol);
  void settle_uses(Scope& scope, Scope* parent);
  void place_labels();
  void insert(const Token& name, Entry entry);

  TokenStream& tokens_;
  Function& function_;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, Symbol> taken_;  // every name the function prints, and module names it uses
  std::unordered_map<std::string, std::uint32_t> suffixes_;
  std::vector<Definition> definitions_;
  std::vector<std::uint32_t> label_of_use_;  // use number to definition
};

}  // namespace wm::ptx
