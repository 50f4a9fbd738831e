// PTX text to tokens: views into the text, made one at a time. Comments and white space are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::ptx {

// The exception that the parts of the parser throw; `parse` turns it into its Result.
struct ParseFailure {
  Error error;
};

enum class TokenKind : std::uint8_t {
  end,
  identifier,  // add  %r1  $L__BB0_1  _
  dotted,      // .global  .L2::cache_hint; text without the leading dot
  number,      // 1  0x1fU  0f3F800000  9.0
  string,      // text without the quotes, escapes untouched
  punctuation  // one character
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  Position position;
  std::uint32_t offset = 0;  // position of its first character in the text

  [[nodiscard]] bool is(char c) const { return kind == TokenKind::punctuation && text[0] == c; }
  [[nodiscard]] bool is_dotted(std::string_view name) const { return kind == TokenKind::dotted && text == name; }
};

// "'.foo'", "end of file": how a message names a token.
std::string describe(const Token& token);

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // Throws ParseFailure for a character or a string that PTX does not have.
  Token next();
  // Skips to just after the `}` that closes the `{` last returned, without looking at what lies between.
  void skip_braces();
  [[noreturn]] void fail(Position position, std::string what) const;

 private:
  void skip_space();
  void newline() { ++line_, line_start_ = at_; }
  [[nodiscard]] Position here() const;
  Token take(TokenKind kind, std::size_t begin, std::size_t skip_front = 0, std::size_t skip_back = 0);

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace wm::ptx
