#include "rewrite/worker/text.h"

#include <algorithm>
#include <clang/Lex/Lexer.h>

namespace wm::rewrite {

Text::Text(const clang::SourceManager& sources, const clang::LangOptions& language, const std::string& text)
    : sources_(sources) {
  const clang::SourceLocation start = sources.getLocForStartOfFile(sources.getMainFileID());
  clang::Lexer lexer(start, language, text.data(), text.data(), text.data() + text.size());
  clang::Token token;
  bool directive = false;
  for (lexer.LexFromRawLexer(token); token.isNot(clang::tok::eof); lexer.LexFromRawLexer(token)) {
    if (token.isAtStartOfLine()) directive = token.is(clang::tok::hash);
    if (directive) continue;
    const std::size_t at = token.getLocation().getRawEncoding() - start.getRawEncoding();
    tokens_.push_back({{at, at + token.getLength()}, std::string_view(text).substr(at, token.getLength())});
  }
}

std::optional<std::size_t> Text::offset(clang::SourceLocation location) const {
  // An argument of a header's macro is the program's own text; the macro's body is not.
  while (location.isMacroID()) {
    if (!sources_.isMacroArgExpansion(location)) return std::nullopt;
    location = sources_.getImmediateSpellingLoc(location);
  }
  if (location.isInvalid()) return std::nullopt;
  const auto [file, at] = sources_.getDecomposedLoc(location);
  if (file != sources_.getMainFileID()) return std::nullopt;
  return at;
}

std::optional<Span> Text::token(clang::SourceLocation location) const {
  const auto at = offset(location);
  if (!at) return std::nullopt;
  const std::size_t index = index_at(*at);
  if (index >= tokens_.size() || tokens_[index].span.begin != *at) return std::nullopt;
  return tokens_[index].span;
}

std::optional<Span> Text::first_token(clang::SourceLocation location) const {
  return token(sources_.getExpansionRange(location).getBegin());
}

std::optional<Span> Text::last_token(clang::SourceLocation location) const {
  return token(sources_.getExpansionRange(location).getEnd());
}

std::size_t Text::index_at(std::size_t offset) const {
  const auto found = std::partition_point(tokens_.begin(), tokens_.end(),
                                          [offset](const Token& token) { return token.span.begin < offset; });
  return static_cast<std::size_t>(found - tokens_.begin());
}

std::size_t Text::begin_of(std::size_t offset) const {
  const auto ends_another = [](std::string_view text) {
    return text == ";" || text == "{" || text == "}" || text == ":";
  };
  std::size_t index = index_at(offset);
  while (index > 0 && !ends_another(tokens_[index - 1].text)) --index;
  return index < tokens_.size() ? std::min(tokens_[index].span.begin, offset) : offset;
}

std::size_t Text::after_next(std::size_t offset, std::string_view kind) const {
  for (std::size_t i = index_at(offset); i < tokens_.size(); ++i) {
    if (tokens_[i].text == kind) return tokens_[i].span.end;
  }
  return offset;
}

std::vector<Span> Text::kernel_words(std::size_t begin, std::size_t end) const {
  std::vector<Span> words;
  for (std::size_t i = index_at(begin); i < tokens_.size() && tokens_[i].span.begin < end; ++i) {
    const Token& token = tokens_[i];
    if (token.text == "kernel" || token.text == "__kernel") words.push_back(token.span);
    if (token.text != "__attribute__" && token.text != "__attribute") continue;
    int depth = 0;
    std::size_t last = i + 1;
    for (; last < tokens_.size(); ++last) {
      depth += tokens_[last].text == "(" ? 1 : tokens_[last].text == ")" ? -1 : 0;
      if (depth == 0) break;
    }
    if (last == tokens_.size()) break;
    words.push_back({token.span.begin, tokens_[last].span.end});
    i = last;
  }
  return words;
}

}  // namespace wm::rewrite
