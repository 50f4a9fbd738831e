#include "ptx/signature.h"

#include <fmt/format.h>

#include "ptx/declaration.h"

namespace wm::ptx {
namespace {

struct DirectiveSpec {
  std::string_view name;
  std::size_t least;
  std::size_t max_numbers;  // numbers
};
constexpr DirectiveSpec kDirectives[] = {
    {"maxntid", 1, 3},           {"reqntid", 1, 3},         {"minnctapersm", 1, 1},
    {"maxnctapersm", 1, 1},      {"maxnreg", 1, 1},         {"maxclusterrank", 1, 1},
    {"reqnctapercluster", 1, 3}, {"explicitcluster", 0, 0}, {"blocksareclusters", 0, 0},
};

Directive parse_directive(TokenStream& tokens, const DirectiveSpec& spec) {
  Directive directive{std::string(spec.name), {}};
  for (std::size_t i = 0; i < spec.max_numbers; ++i) {
    if (i >= spec.least && !tokens.accept(',')) break;
    directive.values.push_back(static_cast<std::uint32_t>(tokens.expect_integer("a number", 0xffffffffU)));
  }
  return directive;
}

void parse_directives(TokenStream& tokens, Function& function) {
  while (tokens.current().kind == TokenKind::dotted) {
    const Token word = tokens.advance();
    if (word.text == "noreturn") {
      function.noreturn = true;
      continue;
    }
    if (word.text == "pragma") {
      function.pragmas.push_back({tokens.expect_string("a string"), 0});
      tokens.accept(';');
      continue;
    }
    const DirectiveSpec* found = nullptr;
    for (const DirectiveSpec& spec : kDirectives)
      if (spec.name == word.text) found = &spec;
    if (found == nullptr) {
      tokens.fail(word.position, fmt::format("unknown directive '.{}' of function '{}'", word.text, function.name));
    }
    function.directives.push_back(parse_directive(tokens, *found));
  }
}

void check_names(TokenStream& tokens, const Function& function) {
  std::vector<const Variable*> all;
  for (const Variable& v : function.results) all.push_back(&v);
  for (const Variable& v : function.parameters) all.push_back(&v);
  for (const Variable* v : all)
    if (function.entry && v->space != Space::param)
      tokens.fail(v->position, "a kernel's parameters are in .param space");
}

}  // namespace

std::vector<Variable> parse_parameters(TokenStream& tokens) {
  std::vector<Variable> parameters;
  tokens.expect('(', "before parameters");
  if (tokens.accept(')')) return parameters;
  do {
    Space space = Space::param;
    if (tokens.accept_dotted("reg")) {
      space = Space::reg;
    } else if (!tokens.accept_dotted("param")) {
      tokens.fail_expected(".param or .reg");
    }
    Variable parameter = parse_variable_head(tokens, space, Linkage::internal);
    parse_variable_tail(tokens, parameter, false);
    parameters.push_back(std::move(parameter));
  } while (tokens.accept(','));
  tokens.expect(')', "after parameters");
  return parameters;
}

Function parse_signature(TokenStream& tokens, bool entry, Linkage linkage) {
  Function function;
  function.entry = entry;
  function.linkage = linkage;
  if (!entry && tokens.current().is('(')) function.results = parse_parameters(tokens);
  const Token name = tokens.expect_identifier("a function's name");
  function.name = std::string(name.text);
  function.position = name.position;
  if (tokens.current().is('(')) function.parameters = parse_parameters(tokens);
  check_names(tokens, function);
  parse_directives(tokens, function);
  return function;
}

}  // namespace wm::ptx
