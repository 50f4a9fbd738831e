// A program's text as clang's tree points into it: offsets of locations, and the tokens between them.
#pragma once

#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/worker/facts.h"

namespace wm::rewrite {

class Text {
 public:
  Text(const clang::SourceManager& sources, const clang::LangOptions& language, const std::string& text);

  // The offset of a location in the text; nullopt for a location inside a macro of the OpenCL header.
  [[nodiscard]] std::optional<std::size_t> offset(clang::SourceLocation location) const;
  // The token at a location.
  [[nodiscard]] std::optional<Span> token(clang::SourceLocation location) const;
  // The first token of the text that a location comes from, and the last one: a use of a macro with its arguments.
  [[nodiscard]] std::optional<Span> first_token(clang::SourceLocation location) const;
  [[nodiscard]] std::optional<Span> last_token(clang::SourceLocation location) const;

  // The beginning of the declaration or statement at `offset`, including the attributes before it, which clang leaves
  // out.
  [[nodiscard]] std::size_t begin_of(std::size_t offset) const;
  // The first `kind` at or after `offset`, as the offset behind it.
  [[nodiscard]] std::size_t after_next(std::size_t offset, std::string_view kind) const;
  // `kernel`, `__kernel` and complete attributes between two offsets.
  [[nodiscard]] std::vector<Span> kernel_words(std::size_t begin, std::size_t end) const;

 private:
  struct Token {
    Span span;
    std::string_view text;
  };
  [[nodiscard]] std::size_t index_at(std::size_t offset) const;  // index of the first token at or behind the offset

  const clang::SourceManager& sources_;
  std::vector<Token> tokens_;  // without those of # lines
};

}  // namespace wm::rewrite
