#include "rewrite/build_options.h"

#include <algorithm>
#include <array>

namespace wm::rewrite {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void append_quoted(std::string& line, const std::string& word) {
  if (!line.empty()) line += ' ';
  if (!word.empty() && word.find_first_of(" \t\"\\") == std::string::npos) {
    line += word;
    return;
  }
  line += '"';
  for (const char c : word) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  line += '"';
}

bool shapes_language(const std::string& word) {
  static constexpr std::array<std::string_view, 8> kKnown{
      "-cl-single-precision-constant", "-cl-fast-relaxed-math", "-cl-finite-math-only", "-cl-unsafe-math-optimizations",
      "-cl-no-signed-zeros",           "-cl-mad-enable",        "-cl-denorms-are-zero", "-cl-uniform-work-group-size"};
  return std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end();
}

}  // namespace

std::vector<std::string> split_build_options(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // a word has begun, though it may be empty so far: ""
  bool quoted = false;
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (c == '"') {
      quoted = !quoted;
      inside = true;
    } else if (blank(c) && !quoted) {
      if (inside) words.push_back(word);
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

BuildOptions parse_build_options(std::string_view text) {
  BuildOptions out;
  const std::vector<std::string> words = split_build_options(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool spent = word.starts_with("-D") || word.starts_with("-I") || word.starts_with("-U");
    if (spent) {
      const bool apart = word.size() == 2 && i + 1 < words.size();
      out.preprocessor.push_back(apart ? word + words[++i] : word);
      continue;
    }
    if (word.starts_with("-cl-std=")) out.standard = word.substr(8);
    if (shapes_language(word)) out.language.push_back(word);
    append_quoted(out.rest, word);
  }
  return out;
}

}  // namespace wm::rewrite
