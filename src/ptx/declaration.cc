#include "ptx/declaration.h"

#include <fmt/format.h>

#include "ptx/initializer.h"
#include "ptx/opaque.h"

namespace wm::ptx {
namespace {

struct SpaceName {
  std::string_view name;
  Space space;
};
constexpr SpaceName kSpaces[] = {
    {"global", Space::global}, {"const", Space::constant}, {"shared", Space::shared},
    {"local", Space::local},   {"param", Space::param},    {"reg", Space::reg},
};

std::uint32_t parse_align(TokenStream& tokens) {
  const Position at = tokens.current().position;
  const auto align = static_cast<std::uint32_t>(tokens.expect_integer("an alignment", 1U << 30));
  if (align == 0 || (align & (align - 1)) != 0) tokens.fail(at, fmt::format("alignment {} is no power of two", align));
  return align;
}

// .ptr, its space and its alignment, of a kernel's parameter.
void parse_pointer(TokenStream& tokens, Variable& variable) {
  variable.pointer = true;
  if (tokens.current().kind == TokenKind::dotted) {
    if (const auto space = space_named(tokens.current().text)) {
      variable.pointer_space = *space;
      tokens.advance();
    } else if (const auto type = type_named(tokens.current().text); type && is_opaque(*type)) {
      variable.pointee = *type;
      tokens.advance();
    }
  }
  if (tokens.accept_dotted("align")) variable.pointer_align = parse_align(tokens);
}

void parse_shape(TokenStream& tokens, Variable& variable) {
  std::uint64_t size = static_cast<std::uint64_t>(bytes(variable.type)) * variable.vector;
  while (tokens.current().is('[')) {
    const Position at = tokens.advance().position;
    std::uint64_t n = 0;
    if (!tokens.current().is(']')) n = tokens.expect_integer("a length or ']'", kLargestVariable);
    if (n == 0 && !variable.shape.empty()) tokens.fail(at, "only the first length of an array may be left out");
    if (n != 0 && size > kLargestVariable / n) {
      tokens.fail(at, fmt::format("'{}' is too large: at most {} bytes", variable.name, kLargestVariable));
    }
    if (n != 0) size *= n;
    if (variable.shape.size() == 8) tokens.fail(at, "an array has at most 8 dimensions");
    variable.shape.push_back(n);
    tokens.expect(']', "after a length");
  }
}

// .attribute(.managed, .unified(1, 2)): where a variable lies for the host, which only `.managed` says of a value.
void parse_attributes(TokenStream& tokens, Variable& variable) {
  tokens.expect('(', "after .attribute");
  do {
    if (tokens.accept_dotted("managed")) {
      variable.managed = true;
    } else if (tokens.accept_dotted("unified")) {
      tokens.expect('(', "after .unified");
      tokens.expect_number("a number");
      tokens.expect(',', "between the numbers of .unified");
      tokens.expect_number("a number");
      tokens.expect(')', "after the numbers of .unified");
    } else {
      tokens.fail_expected(".managed or .unified");
    }
  } while (tokens.accept(','));
  tokens.expect(')', "after attributes");
}

}  // namespace

std::optional<Space> space_named(std::string_view name) {
  for (const SpaceName& s : kSpaces)
    if (s.name == name) return s.space;
  return std::nullopt;
}

std::string_view name(Space space) {
  for (const SpaceName& s : kSpaces)
    if (s.space == space) return s.name;
  return "generic";
}

Variable parse_variable_head(TokenStream& tokens, Space space, Linkage linkage) {
  Variable variable;
  variable.space = space;
  variable.linkage = linkage;
  std::optional<std::uint32_t> align;
  std::optional<Type> type;
  while (tokens.current().kind == TokenKind::dotted) {
    const Token token = tokens.current();
    if (token.text == "align") {
      tokens.advance();
      align = parse_align(tokens);
    } else if (token.text == "attribute") {
      tokens.advance();
      parse_attributes(tokens, variable);
    } else if (token.text == "v2" || token.text == "v4") {
      tokens.advance();
      variable.vector = token.text == "v2" ? 2 : 4;
    } else if (token.text == "ptr" && type && space == Space::param) {
      tokens.advance();
      parse_pointer(tokens, variable);
    } else if (const auto named = type_named(token.text); named && !type) {
      tokens.advance();
      type = named;
    } else {
      tokens.fail(token.position, fmt::format("unexpected '.{}' in a .{} declaration", token.text, name(space)));
    }
  }
  if (!type) tokens.fail_expected("a type");
  if (*type == Type::pred && space != Space::reg) tokens.fail_expected("a type other than .pred in memory, and a name");
  variable.type = *type;
  variable.align = align.value_or(static_cast<std::uint32_t>(bytes(*type)) * variable.vector);
  return variable;
}

Token parse_variable_tail(TokenStream& tokens, Variable& variable, bool may_have_value) {
  const Token name = tokens.expect_identifier("a variable's name");
  variable.name = std::string(name.text);
  variable.position = name.position;
  parse_shape(tokens, variable);
  if (may_have_value && tokens.accept('=')) parse_initializer(tokens, variable);
  const bool may_be_open = variable.linkage == Linkage::external || variable.space == Space::param;
  if (!variable.shape.empty() && variable.shape[0] == 0 && !may_be_open) {
    tokens.fail(name.position, fmt::format("'{}' needs a length: only .extern arrays go without", variable.name));
  }
  return name;
}

}  // namespace wm::ptx
