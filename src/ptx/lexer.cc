#include "ptx/lexer.h"

#include <fmt/format.h>

namespace wm::ptx {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool begins_name(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
constexpr bool continues_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "end of file";
    case TokenKind::dotted:
      return fmt::format("'.{}'", token.text);
    case TokenKind::string:
      return "a string";
    default:
      return fmt::format("'{}'", token.text);
  }
}

void Lexer::fail(Position position, std::string what) const {
  throw ParseFailure{Error{std::move(what), Place{std::string(file_), position.line, position.column}}};
}

Position Lexer::here() const { return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++at_;
      newline();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && text_.substr(at_, 2) == "/*") {
      const Position begin = here();
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) fail(begin, "this comment is never closed");
      for (; at_ < end + 2; ++at_)
        if (text_[at_] == '\n') ++line_, line_start_ = at_ + 1;
    } else {
      return;
    }
  }
}

Token Lexer::take(TokenKind kind, std::size_t begin, std::size_t skip_front, std::size_t skip_back) {
  const Position position{line_, static_cast<std::uint32_t>(begin - line_start_ + 1)};
  const std::size_t first = begin + skip_front;
  return {kind, text_.substr(first, at_ - first - skip_back), position, static_cast<std::uint32_t>(begin)};
}

Token Lexer::next() {
  skip_space();
  const std::size_t begin = at_;
  if (at_ >= text_.size()) return take(TokenKind::end, begin);
  const char c = text_[at_++];
  const auto peek = [&](std::size_t ahead = 0) { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; };
  if (begins_name(c)) {
    while (continues_name(peek())) ++at_;
    return take(TokenKind::identifier, begin);
  }
  if (c == '.' && (continues_name(peek()))) {
    while (continues_name(peek()) || (peek() == ':' && peek(1) == ':' && continues_name(peek(2)))) {
      at_ += peek() == ':' ? 2 : 1;
    }
    return take(TokenKind::dotted, begin, 1);
  }
  if (is_digit(c)) {
    // 1.5e-3 has a sign inside; hexadecimal digits may end in e, so a sign belongs to the number only after a decimal
    // point.
    bool point = false;
    while (continues_name(peek()) || peek() == '.' || (point && (peek() == '-' || peek() == '+'))) {
      const char d = text_[at_];
      if ((d == '-' || d == '+') && text_[at_ - 1] != 'e' && text_[at_ - 1] != 'E') break;
      point = point || d == '.';
      ++at_;
    }
    return take(TokenKind::number, begin);
  }
  if (c == '"') {
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
      at_ += text_[at_] == '\\' && peek(1) != '\n' ? 2 : 1;
    if (at_ >= text_.size() || text_[at_] != '"') {
      at_ = begin;
      fail(here(), "this string is never closed");
    }
    ++at_;
    return take(TokenKind::string, begin, 1, 1);
  }
  if (std::string_view("{}()[]<>,;:+-@!|=*").find(c) != std::string_view::npos)
    return take(TokenKind::punctuation, begin);
  --at_;
  const auto byte = static_cast<unsigned char>(c);
  fail(here(), byte >= 0x20 && byte < 0x7f ? fmt::format("unexpected character '{}'", c)
                                           : fmt::format("unexpected byte 0x{:02x}", byte));
}

void Lexer::skip_braces() {
  const Position begin = here();
  for (int depth = 1; depth > 0;) {
    skip_space();
    if (at_ >= text_.size()) fail(begin, "this section is never closed");
    const char c = text_[at_];
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == '"') {
      next();
    } else {
      ++at_;
    }
  }
}

}  // namespace wm::ptx
