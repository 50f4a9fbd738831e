#include "structure/terms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>

namespace wm::structure {

namespace fs = std::filesystem;

namespace {

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_identifier_char(char c) { return is_letter(c) || c == '_' || std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The words of a line in lower case; identifiers are split at underscores and capital letters: kMaxBlocks is k, max,
// blocks.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!is_letter(c)) {
      end_word();
      continue;
    }
    const bool begins_part = is_upper(c) && i > 0 && is_lower(line[i - 1]);
    if (begins_part) end_word();
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  end_word();
  return words;
}

// The identifiers of a line of C++, without those in comments and string literals.
std::vector<std::string> identifiers_of(std::string_view line) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < line.size();) {
    if (line.substr(i).starts_with("//")) break;
    if (line[i] == '"') {
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\') ++i;
      }
      ++i;
    } else if (is_identifier_char(line[i])) {
      const std::size_t begin = i;
      while (i < line.size() && is_identifier_char(line[i])) ++i;
      names.emplace_back(line.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return names;
}

bool contains_words(const std::vector<std::string>& line, const std::vector<std::string>& words) {
  return std::search(line.begin(), line.end(), words.begin(), words.end()) != line.end();
}

bool contains_name(const std::vector<std::string>& names, const OldTerm& term) {
  return std::any_of(names.begin(), names.end(), [&](std::string name) {
    if (term.kind == OldTerm::Kind::first_part) {
      const std::vector<std::string> parts = words_of(name);
      return !parts.empty() && parts.front() == term.words.front();
    }
    if (name.ends_with('_')) name.pop_back();
    return name == term.words.front();
  });
}

bool applies_to(const OldTerm& term, const fs::path& file) {
  return term.folders.empty() || std::any_of(term.folders.begin(), term.folders.end(), [&](const std::string& folder) {
           return file.string().starts_with(folder);
         });
}

bool is_searched(const fs::path& file) {
  static const std::set<std::string> endings{".md",   ".cmake",   ".yaml", ".sh", ".mjs", ".js",
                                             ".html", ".service", ".def",  ".py", ".pyi"};
  return is_code(file) || file.filename() == "CMakeLists.txt" || endings.contains(file.extension().string());
}

std::string without_allowed(std::string_view line, const std::vector<std::string>& allowed) {
  std::string text(line);
  for (const std::string& key : allowed) {
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key)) text.erase(at, key.size());
  }
  return text;
}

// The words with which the terms begin: most lines contain none of them.
std::set<std::string> first_words(const OldTerms& old) {
  std::set<std::string> words;
  for (const OldTerm& term : old.terms) {
    const std::vector<std::string> parts = words_of(term.words.front());
    words.insert(parts.begin(), parts.end());
  }
  return words;
}

void search_file(const fs::path& root, const fs::path& file, const OldTerms& old, const std::set<std::string>& first,
                 Violations& found) {
  const bool glossary = file == fs::path("docs") / "glossary.md";
  bool formerly = false;
  for_each_line(root / file, [&](int number, std::string_view line) {
    if (glossary && line.starts_with("## ")) formerly = line == "## Formerly";
    if (formerly) return;
    std::vector<std::string> words = words_of(line);
    if (std::none_of(words.begin(), words.end(), [&](const std::string& word) { return first.contains(word); })) return;
    const std::string text = without_allowed(line, old.allowed);
    words = words_of(text);
    const std::vector<std::string> names = is_code(file) ? identifiers_of(text) : std::vector<std::string>{};
    for (const OldTerm& term : old.terms) {
      if (!applies_to(term, file)) continue;
      const bool hit =
          term.kind == OldTerm::Kind::words ? contains_words(words, term.words) : contains_name(names, term);
      if (!hit) continue;
      std::string spelling;
      for (const std::string& word : term.words) spelling += (spelling.empty() ? "" : " ") + word;
      found.push_back(file.string() + ":" + std::to_string(number) + ": old term '" + spelling + "'");
    }
  });
}

}  // namespace

OldTerms read_old_terms(const fs::path& file) {
  OldTerms old;
  for_each_line(file, [&](int, std::string_view text) {
    std::stringstream fields(std::string(text.substr(0, text.find('#'))));
    std::string field;
    if (!(fields >> field)) return;
    if (field == "allow") {
      while (fields >> field) old.allowed.push_back(field);
      return;
    }
    OldTerm term;
    if (field == "name") term.kind = OldTerm::Kind::name;
    if (field == "first") term.kind = OldTerm::Kind::first_part;
    while (fields >> field) {
      if (!field.starts_with('@')) {
        term.words.push_back(field);
        continue;
      }
      std::stringstream folders(field.substr(1));
      for (std::string folder; std::getline(folders, folder, ',');) term.folders.push_back(folder);
    }
    old.terms.push_back(term);
  });
  return old;
}

Violations old_term_uses(const fs::path& root, const OldTerms& terms) {
  Violations found;
  const std::set<std::string> first = first_words(terms);
  for (const char* top : {"src", "tests", "docs", "bench", "fuzz", "validation", "cmake", "kernels", "web", "configs",
                          "experiments", "examples", "include"}) {
    for (const fs::path& file : files_below(root, top)) {
      if (is_searched(file)) search_file(root, file, terms, first, found);
    }
  }
  for (const char* page : {"README.md", "CONTRIBUTING.md"}) search_file(root, page, terms, first, found);
  return found;
}

namespace {

bool begins_without_subject(std::string_view sentence) {
  static constexpr std::array<std::string_view, 12> kWords{"Who", "Whom", "Whose", "What", "Of", "Nobody",
                                                           "who", "whom", "whose", "what", "of", "nobody"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return sentence.starts_with(word) && (sentence.size() == word.size() || !is_identifier_char(sentence[word.size()]));
  });
}

// Checks the text of one comment line; `starts` says that a sentence begins with it.
bool has_sentence_without_subject(std::string_view text, bool starts) {
  if (starts && begins_without_subject(text)) return true;
  for (std::size_t at = text.find(". "); at != std::string_view::npos; at = text.find(". ", at + 1)) {
    if (begins_without_subject(text.substr(at + 2))) return true;
  }
  return false;
}

// The text of a comment without the marks around it.
std::string_view without_marks(std::string_view text) {
  if (const auto end = text.find("*/"); end != std::string_view::npos) text = text.substr(0, end);
  const auto first = text.find_first_not_of(" \t/*");
  if (first == std::string_view::npos) return {};
  text = text.substr(first);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// The comment of a line, if it has one; the code before it goes to `code`. `in_block` says whether the line begins
// inside of a comment between slash and star, and then whether the next one does. Named parameters, /*size*/, are code.
std::string_view comment_of(std::string_view line, std::string_view& code, bool& in_block) {
  if (in_block) {
    in_block = line.find("*/") == std::string_view::npos;
    code = {};
    return without_marks(line);
  }
  bool in_literal = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      in_literal = !in_literal;
    } else if (!in_literal && line[i] == '/' && line[i + 1] == '/') {
      code = line.substr(0, i);
      std::string_view text = line.substr(i + 2);
      while (text.starts_with(' ') || text.starts_with('/')) text.remove_prefix(1);
      return text;
    } else if (!in_literal && line.substr(i).starts_with("/* ")) {
      in_block = line.find("*/", i) == std::string_view::npos;
      code = line.substr(0, i);
      return without_marks(line.substr(i));
    }
  }
  code = line;
  return {};
}

}  // namespace

Violations comments_without_subject(const fs::path& root) {
  Violations found;
  std::vector<fs::path> files = code_files(root);
  for (const fs::path& header : files_below(root, "include")) files.push_back(header);
  for (const fs::path& file : files) {
    bool sentence_ended = true;  // a comment line that follows another one continues its sentence
    bool in_block = false;
    for_each_line(root / file, [&](int number, std::string_view line) {
      std::string_view code;
      const std::string_view comment = comment_of(line, code, in_block);
      const bool only_comment = code.find_first_not_of(" \t") == std::string_view::npos;
      if (comment.empty()) {
        sentence_ended = true;
        return;
      }
      if (has_sentence_without_subject(comment, sentence_ended || !only_comment)) {
        found.push_back(file.string() + ":" + std::to_string(number) + ": comment without a subject");
      }
      sentence_ended = comment.ends_with('.') || comment.ends_with(':');
    });
  }
  return found;
}

}  // namespace wm::structure
