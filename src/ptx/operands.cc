// Operands as they are written; which of them an instruction takes is decided by its forms.
#include <fmt/format.h>

#include "ptx/body_parser.h"

namespace wm::ptx {
namespace {

constexpr std::uint64_t kLargestOffset = std::uint64_t{1} << 62;

Operand::Kind kind_of(Literal::Kind kind) {
  if (kind == Literal::Kind::integer) return Operand::Kind::integer;
  return kind == Literal::Kind::f32 ? Operand::Kind::f32 : Operand::Kind::f64;
}

}  // namespace

Operand BodyParser::operand() {
  Operand first = operand_without_pair();
  if (!tokens_.accept('|')) return first;
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(operand_without_pair());
  return pair;
}

Operand BodyParser::operand_without_pair() {
  const Token& token = tokens_.current();
  if (token.is('[')) return address();
  if (token.is('{')) return vector();
  if (token.is('-') || token.kind == TokenKind::number) return number();
  if (token.is('!')) {
    tokens_.advance();
    Operand result;
    result.kind = Operand::Kind::reg;
    result.negated = true;
    result.index = predicate_named(tokens_.expect_identifier("a predicate after '!'"));
    return result;
  }
  if (token.kind == TokenKind::identifier) return named(tokens_.advance());
  tokens_.fail_expected("an operand");
}

Operand BodyParser::number() {
  const bool negative = tokens_.accept('-');
  const Literal value = tokens_.expect_number("a number");
  Operand result;
  result.kind = kind_of(value.kind);
  result.bits = value.bits;
  if (!negative) return result;
  if (value.kind == Literal::Kind::integer) result.bits = ~value.bits + 1;
  if (value.kind == Literal::Kind::f32) result.bits ^= std::uint64_t{1} << 31;
  if (value.kind == Literal::Kind::f64) result.bits ^= std::uint64_t{1} << 63;
  return result;
}

// Any number of +4, -4 and clang's +-4.
std::int64_t BodyParser::offset() {
  std::int64_t total = 0;
  while (tokens_.current().is('+') || tokens_.current().is('-')) {
    const Token sign = tokens_.advance();
    const bool minus = sign.is('-') != tokens_.accept('-');
    const auto value = static_cast<std::int64_t>(tokens_.expect_integer("an offset", kLargestOffset));
    total += minus ? -value : value;
    if (total > static_cast<std::int64_t>(kLargestOffset) || total < -static_cast<std::int64_t>(kLargestOffset)) {
      tokens_.fail(sign.position, "the offset is too large");
    }
  }
  return total;
}

Operand BodyParser::address() {
  Operand result;
  result.kind = Operand::Kind::address;
  tokens_.advance();
  const Token base = tokens_.current();
  if (base.kind == TokenKind::identifier) {
    result.elements.push_back(named(tokens_.advance()));
    std::swap(result.offset, result.elements[0].offset);
  } else {
    result.elements.push_back(number());
  }
  if (tokens_.current().is(',')) return texture(std::move(result));
  const Operand::Kind kind = result.elements[0].kind;
  if (kind != Operand::Kind::reg && kind != Operand::Kind::variable && kind != Operand::Kind::integer) {
    tokens_.fail(base.position,
                 fmt::format("{} is no address: expected a register, a variable or a number", describe(base)));
  }
  const Position at = tokens_.current().position;
  const std::int64_t more = offset();
  if (__builtin_add_overflow(result.offset, more, &result.offset)) tokens_.fail(at, "the offset is too large");
  tokens_.expect(']', "after an address");
  return result;
}

// [texture, coordinates] or [texture, sampler, coordinates], from the first comma on.
Operand BodyParser::texture(Operand result) {
  result.kind = Operand::Kind::texture;
  while (tokens_.accept(',')) {
    if (result.elements.size() == 3) tokens_.fail_expected("']' after the coordinates");
    result.elements.push_back(operand_without_pair());
  }
  tokens_.expect(']', "after the coordinates of a texture");
  return result;
}

// The bytes or halves of a register that a SIMD video instruction takes: "b3210", "h10".
std::uint64_t BodyParser::selection() {
  const Token token = tokens_.advance();
  const std::string_view text = token.text;
  const bool bytes = text.starts_with('b');
  const std::size_t digits = text.size() - 1;
  std::uint64_t value = 0;
  bool valid = (bytes || text.starts_with('h')) && digits >= 1 && digits <= (bytes ? 4U : 2U);
  for (const char c : text.substr(1)) {
    valid = valid && c >= '0' && c < (bytes ? '8' : '4');
    value = value << 4 | static_cast<std::uint64_t>(c - '0');
  }
  if (!valid) tokens_.fail(token.position, fmt::format("'.{}' selects no bytes of a register", text));
  return std::uint64_t{static_cast<unsigned char>(text[0])} << 24 | digits << 16 | value;
}

Operand BodyParser::vector() {
  Operand result;
  result.kind = Operand::Kind::vector;
  const Position at = tokens_.advance().position;
  do {
    if (result.elements.size() == 8) tokens_.fail(at, "a vector has at most 8 elements");
    if (tokens_.current().is('{') || tokens_.current().is('[')) tokens_.fail_expected("a register or a number");
    result.elements.push_back(operand_without_pair());
  } while (tokens_.accept(','));
  tokens_.expect('}', "after a vector");
  return result;
}

Operand BodyParser::named(const Token& name) {
  Operand result;
  if (name.text == "_") {
    result.kind = Operand::Kind::sink;
    return result;
  }
  if (const auto symbol = scopes_.find(name.text)) {
    result.index = symbol->index;
    switch (symbol->kind) {
      case Symbol::Kind::reg:
        result.kind = Operand::Kind::reg;
        if (tokens_.current().kind == TokenKind::dotted) result.bits = selection();
        return result;
      case Symbol::Kind::branch_table:
        result.kind = Operand::Kind::branch_targets;
        return result;
      case Symbol::Kind::call_table:
        result.kind = Operand::Kind::call_targets;
        return result;
      case Symbol::Kind::prototype:
        result.kind = Operand::Kind::prototype;
        return result;
      case Symbol::Kind::result:
        result.scope = Operand::Scope::result;
        break;
      case Symbol::Kind::parameter:
        result.scope = Operand::Scope::parameter;
        break;
      default:
        result.scope = Operand::Scope::local;
        break;
    }
    result.kind = Operand::Kind::variable;
    result.offset = offset();
    return result;
  }
  if (const auto at = names_.find(name.text); at != names_.end()) {
    scopes_.use_module_name(name.text);
    result.index = at->second.index;
    result.kind = at->second.function ? Operand::Kind::function : Operand::Kind::variable;
    if (!at->second.function) result.offset = offset();
    return result;
  }
  return special(name);
}

// %tid.x, or the constant WARP_SZ.
Operand BodyParser::special(const Token& name) {
  Operand result;
  if (name.text == "WARP_SZ") {
    result.bits = 32;
    return result;
  }
  if (!name.text.starts_with('%')) tokens_.fail(name.position, fmt::format("'{}' is not declared", name.text));
  std::string text(name.text);
  if (tokens_.current().kind == TokenKind::dotted) text += fmt::format(".{}", tokens_.advance().text);
  const auto special = special_named(text);
  if (!special) tokens_.fail(name.position, fmt::format("'{}' is neither declared nor a special register", text));
  result.kind = Operand::Kind::special;
  result.special = *special;
  return result;
}

Operand BodyParser::label() {
  Operand result;
  result.kind = Operand::Kind::label;
  result.index = scopes_.use_label(tokens_.expect_identifier("a label"));
  return result;
}

std::uint32_t BodyParser::predicate_named(const Token& name) {
  const auto symbol = scopes_.find(name.text);
  if (!symbol) tokens_.fail(name.position, fmt::format("'{}' is not declared", name.text));
  if (symbol->kind != Symbol::Kind::reg || function_.registers[symbol->index].type != Type::pred) {
    tokens_.fail(name.position, fmt::format("'{}' is no predicate", name.text));
  }
  return symbol->index;
}

}  // namespace wm::ptx
