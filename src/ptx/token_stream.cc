#include "ptx/token_stream.h"

#include <fmt/format.h>

namespace wm::ptx {

const Token& TokenStream::peek() {
  if (!ahead_) ahead_ = lexer_.next();
  return *ahead_;
}

Token TokenStream::advance() {
  const Token token = token_;
  if (ahead_) {
    token_ = *ahead_;
    ahead_.reset();
  } else {
    token_ = lexer_.next();
  }
  return token;
}

bool TokenStream::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

bool TokenStream::accept_dotted(std::string_view name) {
  if (!token_.is_dotted(name)) return false;
  advance();
  return true;
}

void TokenStream::fail_expected(std::string_view what) const {
  fail(token_.position, fmt::format("expected {}, found {}", what, describe(token_)));
}

void TokenStream::expect(char c, std::string_view after) {
  if (!accept(c)) fail_expected(fmt::format("'{}' {}", c, after));
}

Token TokenStream::expect_identifier(std::string_view what) {
  if (token_.kind != TokenKind::identifier) fail_expected(what);
  return advance();
}

Literal TokenStream::expect_number(std::string_view what) {
  if (token_.kind != TokenKind::number) fail_expected(what);
  const auto value = literal(token_.text);
  if (!value) fail(token_.position, fmt::format("'{}' is not a number of 64 bits", token_.text));
  advance();
  return *value;
}

std::uint64_t TokenStream::expect_integer(std::string_view what, std::uint64_t max) {
  const Token token = token_;
  const Literal value = expect_number(what);
  if (value.kind != Literal::Kind::integer)
    fail(token.position, fmt::format("expected {}, found '{}'", what, token.text));
  if (value.bits > max) fail(token.position, fmt::format("{} is too large: at most {}", token.text, max));
  return value.bits;
}

std::string TokenStream::expect_string(std::string_view what) {
  if (token_.kind != TokenKind::string) fail_expected(what);
  return std::string(advance().text);
}

void TokenStream::skip_braces() {
  if (!token_.is('{')) fail_expected("'{'");
  lexer_.skip_braces();
  token_ = lexer_.next();
}

}  // namespace wm::ptx
