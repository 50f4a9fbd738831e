// The tokens of a PTX text with one token of lookahead, and helpers that all parts of the parser share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ptx/lexer.h"
#include "ptx/number.h"

namespace wm::ptx {

class TokenStream {
 public:
  TokenStream(std::string_view text, std::string_view file) : lexer_(text, file), token_(lexer_.next()) {}

  [[nodiscard]] const Token& current() const { return token_; }
  const Token& peek();
  // Returns the current token and advances.
  Token advance();

  // Consumes the punctuation or the dotted word if it is next.
  bool accept(char c);
  bool accept_dotted(std::string_view name);

  // Consumes what must come next; otherwise fails with "expected …, found …". `after` completes the sentence.
  void expect(char c, std::string_view after);
  Token expect_identifier(std::string_view what);
  std::uint64_t expect_integer(std::string_view what, std::uint64_t max);
  Literal expect_number(std::string_view what);
  std::string expect_string(std::string_view what);

  // With `{` current: skips to the matching brace and past it.
  void skip_braces();

  [[noreturn]] void fail(Position position, std::string what) const { lexer_.fail(position, std::move(what)); }
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  Lexer lexer_;
  Token token_;
  std::optional<Token> ahead_;
};

}  // namespace wm::ptx
