#include "ptx/body_parser.h"

#include <fmt/format.h>

#include "ptx/declaration.h"
#include "ptx/signature.h"

namespace wm::ptx {
namespace {

constexpr std::size_t kDeepestScope = 256;
constexpr std::uint64_t kMaxRegisters = std::uint64_t{1} << 24;

}  // namespace

BodyParser::BodyParser(TokenStream& tokens, const Module& module, const ModuleNames& names, Function& function)
    : tokens_(tokens), module_(module), names_(names), function_(function), scopes_(tokens, function) {
  const auto declare = [&](std::vector<Variable>& list, Symbol::Kind kind) {
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const Token name{TokenKind::identifier, list[i].name, list[i].position};
      if (list[i].space != Space::reg) {
        scopes_.declare(name, {kind, i});
        continue;
      }
      scopes_.declare(name, {Symbol::Kind::reg, static_cast<std::uint32_t>(function_.registers.size())});
      function_.registers.push_back({list[i].name, list[i].type});
    }
  };
  declare(function_.results, Symbol::Kind::result);
  declare(function_.parameters, Symbol::Kind::parameter);
}

void BodyParser::parse() {
  tokens_.expect('{', "to begin the function's body");
  while (true) {
    if (tokens_.current().kind == TokenKind::end) tokens_.fail_expected("'}' to end the function's body");
    if (tokens_.current().is('{')) {
      if (scopes_.depth() == kDeepestScope) tokens_.fail(tokens_.current().position, "scopes nest too deeply");
      tokens_.advance();
      scopes_.open();
    } else if (tokens_.accept('}')) {
      if (scopes_.depth() == 1) break;
      scopes_.close();
    } else {
      statement();
    }
  }
  scopes_.finish();
}

void BodyParser::statement() {
  const Token& token = tokens_.current();
  if (token.kind == TokenKind::dotted) return directive();
  if (token.kind == TokenKind::identifier && tokens_.peek().is(':')) return label_or_table();
  if (token.kind == TokenKind::identifier || token.is('@')) return instruction();
  if (tokens_.accept(';')) return;
  tokens_.fail_expected("a statement");
}

void BodyParser::directive() {
  const Token word = tokens_.advance();
  if (word.text == "reg") return registers();
  if (word.text == "loc") return location();
  if (word.text == "pragma") return pragma();
  const auto space = space_named(word.text);
  if (space == Space::local || space == Space::shared || space == Space::param) return variables(*space);
  tokens_.fail(word.position, fmt::format("'.{}' is not supported inside a function", word.text));
}

void BodyParser::registers() {
  const Token type = tokens_.current();
  const Variable head = parse_variable_head(tokens_, Space::reg, Linkage::internal);
  if (head.vector != 1) tokens_.fail(type.position, "vector registers are not supported");
  do {
    const Token name = tokens_.expect_identifier("a register's name");
    if (tokens_.accept('<')) {
      const auto count = tokens_.expect_integer("the number of registers", kMaxRegisters);
      tokens_.expect('>', "after the number of registers");
      scopes_.declare_range(name, static_cast<std::uint32_t>(count), head.type);
    } else {
      scopes_.declare_register(name, head.type);
    }
  } while (tokens_.accept(','));
  tokens_.expect(';', "after registers");
}

void BodyParser::variables(Space space) {
  const Variable head = parse_variable_head(tokens_, space, Linkage::internal);
  do {
    Variable variable = head;
    const Token name = parse_variable_tail(tokens_, variable, false);
    const auto index = static_cast<std::uint32_t>(function_.variables.size());
    variable.name = scopes_.declare(name, {Symbol::Kind::variable, index});
    function_.variables.push_back(std::move(variable));
  } while (tokens_.accept(','));
  tokens_.expect(';', "after a variable");
}

void BodyParser::location() {
  const Position at = tokens_.current().position;
  constexpr std::uint64_t kMaxNumber = 0xffffffffU;
  source_.file = static_cast<std::uint32_t>(tokens_.expect_integer("a file's number", kMaxNumber));
  source_.line = static_cast<std::uint32_t>(tokens_.expect_integer("a line", kMaxNumber));
  source_.column = static_cast<std::uint32_t>(tokens_.expect_integer("a column", kMaxNumber));
  if (source_.file == 0) tokens_.fail(at, "files are numbered from 1");
  if (source_.file > largest_file_.file) largest_file_ = {source_.file, at};
  // The IR keeps only the innermost position, not the place the code was inlined from.
  while (tokens_.accept(',')) {
    const Token word = tokens_.expect_identifier("function_name or inlined_at");
    if (word.text == "function_name") {
      tokens_.expect_identifier("a label");
      if (tokens_.accept('+')) tokens_.expect_integer("an offset", kMaxNumber);
    } else if (word.text == "inlined_at") {
      for (int i = 0; i < 3; ++i) tokens_.expect_integer("a number", kMaxNumber);
    } else {
      tokens_.fail(word.position, fmt::format("expected function_name or inlined_at, found '{}'", word.text));
    }
  }
}

void BodyParser::pragma() {
  do {
    function_.pragmas.push_back({tokens_.expect_string("a string"), static_cast<std::uint32_t>(function_.body.size())});
  } while (tokens_.accept(','));
  tokens_.expect(';', "after a pragma");
}

void BodyParser::label_or_table() {
  const Token name = tokens_.advance();
  tokens_.advance();
  if (tokens_.accept_dotted("branchtargets")) return branch_targets(name);
  if (tokens_.accept_dotted("calltargets")) return call_targets(name);
  if (tokens_.accept_dotted("callprototype")) return call_prototype(name);
  scopes_.define_label(name);
}

void BodyParser::branch_targets(const Token& name) {
  BranchTable table;
  do {
    table.labels.push_back(scopes_.use_label(tokens_.expect_identifier("a label")));
  } while (tokens_.accept(','));
  tokens_.expect(';', "after branch targets");
  const auto index = static_cast<std::uint32_t>(function_.branch_tables.size());
  table.name = scopes_.declare(name, {Symbol::Kind::branch_table, index});
  function_.branch_tables.push_back(std::move(table));
}

void BodyParser::call_targets(const Token& name) {
  CallTable table;
  do {
    const Token target = tokens_.expect_identifier("a function");
    const auto at = names_.find(target.text);
    if (at == names_.end() || !at->second.function) {
      tokens_.fail(target.position, fmt::format("'{}' is not a function declared above", target.text));
    }
    scopes_.use_module_name(target.text);
    table.functions.push_back(at->second.index);
  } while (tokens_.accept(','));
  tokens_.expect(';', "after call targets");
  const auto index = static_cast<std::uint32_t>(function_.call_tables.size());
  table.name = scopes_.declare(name, {Symbol::Kind::call_table, index});
  function_.call_tables.push_back(std::move(table));
}

void BodyParser::call_prototype(const Token& name) {
  Prototype prototype;
  if (tokens_.current().is('(')) prototype.results = parse_parameters(tokens_);
  tokens_.expect_identifier("'_' in place of the function's name");
  if (tokens_.current().is('(')) prototype.parameters = parse_parameters(tokens_);
  prototype.noreturn = tokens_.accept_dotted("noreturn");
  tokens_.expect(';', "after a prototype");
  const auto index = static_cast<std::uint32_t>(function_.prototypes.size());
  prototype.name = scopes_.declare(name, {Symbol::Kind::prototype, index});
  function_.prototypes.push_back(std::move(prototype));
}

}  // namespace wm::ptx
