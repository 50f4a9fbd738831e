#include "structure/class_scan.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace wm::structure {
namespace {

using Tokens = std::vector<std::string>;

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(const std::string& token) { return is_name_char(token.front()); }

// Splits a source into tokens. Preprocessor lines, comments and the content of literals are dropped.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    while (at_ < text_.size()) next();
  }
  [[nodiscard]] Tokens take() { return std::move(tokens_); }

 private:
  [[nodiscard]] bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void skip_to(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void next() {
    const char c = text_[at_];
    if (c == '\n') {
      line_is_empty_ = true;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (starts("//")) {
      skip_to("\n");
      line_is_empty_ = true;
    } else if (starts("/*")) {
      skip_to("*/");
    } else if (c == '#' && line_is_empty_) {
      skip_directive();
    } else {
      line_is_empty_ = false;
      token();
    }
  }

  void skip_directive() {
    do {
      skip_to("\n");
    } while (at_ >= 2 && at_ < text_.size() && text_[at_ - 2] == '\\');
  }

  void token() {
    const char c = text_[at_];
    if (starts("R\"")) {
      const std::size_t open = text_.find('(', at_);
      const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
      skip_to(end);
      tokens_.emplace_back("\"");
    } else if (c == '"' || c == '\'') {
      skip_literal(c);
      tokens_.emplace_back("\"");
    } else if (is_name_char(c)) {
      const std::size_t begin = at_;
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      while (at_ < text_.size() && (is_name_char(text_[at_]) || (number && text_[at_] == '\''))) ++at_;
      tokens_.emplace_back(text_.substr(begin, at_ - begin));
    } else if (starts("::")) {
      tokens_.emplace_back("::");
      at_ += 2;
    } else {
      tokens_.emplace_back(1, c);
      ++at_;
    }
  }

  void skip_literal(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_is_empty_ = true;
  Tokens tokens_;
};

// The position behind the bracket that closes the one at `open`.
std::size_t behind_closing(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string& t = tokens[i];
    if (t == "(" || t == "{" || t == "[") ++depth;
    if (t == ")" || t == "}" || t == "]") --depth;
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

// The position behind template arguments that begin at `open`, or `open` if they do not look like ones.
std::size_t behind_template_arguments(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size();) {
    const std::string& t = tokens[i];
    if (t == ";" || t == "{" || t == "}") return open;
    if (t == "(" || t == "[") {
      i = behind_closing(tokens, i);
      continue;
    }
    if (t == "<") ++depth;
    if (t == ">") --depth;
    ++i;
    if (depth == 0) return i;
  }
  return open;
}

// The declaration without template arguments, attributes, alignas(…) and decltype(…).
Tokens simplified(const Tokens& statement) {
  Tokens result;
  for (std::size_t i = 0; i < statement.size();) {
    const std::string& t = statement[i];
    if (t == "<" && !result.empty() && is_name(result.back()) && result.back() != "operator") {
      const std::size_t end = behind_template_arguments(statement, i);
      if (end != i) {
        i = end;
        continue;
      }
    }
    if (t == "[" && i + 1 < statement.size() && statement[i + 1] == "[") {
      i = behind_closing(statement, i);
      continue;
    }
    if ((t == "alignas" || t == "decltype" || t == "requires" || t == "explicit" || t == "noexcept") &&
        i + 1 < statement.size() && statement[i + 1] == "(") {
      if (t == "decltype") result.push_back(t);
      i = behind_closing(statement, i + 1);
      continue;
    }
    result.push_back(t);
    ++i;
  }
  if (!result.empty() && result.front() == "template") result.erase(result.begin());
  return result;
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Where the parameter list of a simplified declaration begins; kNone if it declares no function.
std::size_t parameters_of(const Tokens& declaration) {
  for (std::size_t i = 0; i < declaration.size(); ++i) {
    const std::string& t = declaration[i];
    if (t == "operator") {
      const auto open = std::find(declaration.begin() + static_cast<std::ptrdiff_t>(i) + 1, declaration.end(), "(");
      return open == declaration.end() ? kNone : static_cast<std::size_t>(open - declaration.begin());
    }
    if (t == "=" || t == "{") return kNone;
    if (t == "(") return i + 1 < declaration.size() && declaration[i + 1] == "*" ? kNone : i;
  }
  return kNone;
}

// The name of the class that a simplified statement before `{` begins to define; empty if it defines none. An unnamed
// class is called "(unnamed)".
std::string class_name(const Tokens& declaration) {
  static const std::set<std::string> keys{"class", "struct", "union"};
  std::size_t i = 0;
  while (i < declaration.size() &&
         (declaration[i] == "typedef" || declaration[i] == "static" || declaration[i] == "const" ||
          declaration[i] == "constexpr" || declaration[i] == "inline")) {
    ++i;
  }
  if (i == declaration.size() || !keys.contains(declaration[i])) return {};
  std::string name;
  for (++i; i < declaration.size() && (is_name(declaration[i]) || declaration[i] == "::"); ++i) {
    if (declaration[i] == "final") continue;
    if (!name.empty() && declaration[i] != "::" && !name.ends_with("::")) return {};  // `struct stat info{}`
    name += declaration[i];
  }
  if (i < declaration.size() && declaration[i] != ":") return {};
  return name.empty() ? "(unnamed)" : name;
}

// How many fields a simplified declaration in a class declares.
int fields_of(const Tokens& declaration) {
  static const std::set<std::string> others{"using",  "typedef", "friend",    "static", "enum",   "static_assert",
                                            "public", "private", "protected", "class",  "struct", "union"};
  if (declaration.empty() || parameters_of(declaration) != kNone) return 0;
  for (const std::string& t : declaration) {
    if (t == "=" || t == "{") break;
    if (others.contains(t)) {
      // `struct stat info_;` declares a field, `class Later;` does not.
      const bool elaborated = (t == "struct" || t == "class" || t == "union") && declaration.size() >= 3 &&
                              is_name(declaration[1]) && is_name(declaration[2]);
      if (!elaborated) return 0;
    }
  }
  int fields = 1;
  for (std::size_t i = 0; i < declaration.size();) {
    const std::string& t = declaration[i];
    if (t == "(" || t == "{" || t == "[") {
      i = behind_closing(declaration, i);
      continue;
    }
    if (t == ",") ++fields;
    ++i;
  }
  return fields;
}

class Scanner {
 public:
  explicit Scanner(Tokens tokens) : tokens_(std::move(tokens)) { scope("", nullptr); }

  [[nodiscard]] ScannedSource take() {
    source_.members_of.assign(members_.begin(), members_.end());
    return std::move(source_);
  }

 private:
  // Reads declarations up to the closing brace of a namespace or, with `fields`, of a class.
  void scope(const std::string& outer, int* fields) {
    Tokens statement;
    while (at_ < tokens_.size() && tokens_[at_] != "}") {
      const std::string& t = tokens_[at_];
      if (t == ";") {
        if (fields != nullptr) *fields += fields_of(simplified(statement));
        statement.clear();
        ++at_;
      } else if (t == ":" && is_access_specifier(statement)) {
        statement.clear();
        ++at_;
      } else if (t == "{") {
        open_brace(statement, outer);
      } else if (t == "(" || t == "[") {
        const std::size_t end = behind_closing(tokens_, at_);
        statement.insert(statement.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                         tokens_.begin() + static_cast<std::ptrdiff_t>(end));
        at_ = end;
      } else {
        statement.push_back(t);
        ++at_;
      }
    }
    ++at_;  // the closing brace
  }

  static bool is_access_specifier(const Tokens& statement) {
    return statement.size() == 1 &&
           (statement[0] == "public" || statement[0] == "private" || statement[0] == "protected");
  }

  void open_brace(Tokens& statement, const std::string& outer) {
    const Tokens declaration = simplified(statement);
    const bool has_initialiser = std::find(declaration.begin(), declaration.end(), "=") != declaration.end() &&
                                 parameters_of(declaration) == kNone;
    const std::string name = has_initialiser ? "" : class_name(declaration);
    if (!name.empty()) {
      open_class(statement, outer.empty() ? name : outer + "::" + name);
    } else if (is_namespace(declaration)) {
      ++at_;
      scope(outer, nullptr);
      statement.clear();
    } else if (const std::size_t parameters = parameters_of(declaration);
               parameters != kNone && !in_initialiser_list(declaration, parameters)) {
      note_member(declaration, parameters);
      at_ = behind_closing(tokens_, at_);
      statement.clear();
    } else {  // an initialiser, or an enumeration
      at_ = behind_closing(tokens_, at_);
      statement.emplace_back("{");
      statement.emplace_back("}");
    }
  }

  void open_class(Tokens& statement, const std::string& name) {
    const std::size_t index = source_.classes.size();
    source_.classes.push_back({name, 0});
    int fields = 0;
    ++at_;
    scope(name, &fields);
    source_.classes[index].fields = fields;
    // The tokens up to `;` declare variables of this type: `struct {…} a, b;`
    statement.clear();
    if (at_ < tokens_.size() && tokens_[at_] != ";") statement.emplace_back("type");
  }

  static bool is_namespace(const Tokens& declaration) {
    return !declaration.empty() &&
           (declaration[0] == "namespace" || declaration[0] == "extern" ||
            (declaration[0] == "inline" && declaration.size() > 1 && declaration[1] == "namespace"));
  }

  // Whether the brace behind a constructor's declaration initialises a member: `A::A() : x_{1}, y_(2) {`.
  static bool in_initialiser_list(const Tokens& declaration, std::size_t parameters) {
    const std::size_t end = behind_closing(declaration, parameters);
    const auto colon = std::find(declaration.begin() + static_cast<std::ptrdiff_t>(end), declaration.end(), ":");
    return colon != declaration.end() && (is_name(declaration.back()) || declaration.back() == ">");
  }

  // Records `Outer::Inner` of `Outer::Inner::f(…)`.
  void note_member(const Tokens& declaration, std::size_t parameters) {
    std::size_t i = parameters;
    const auto before =
        std::find(declaration.begin(), declaration.begin() + static_cast<std::ptrdiff_t>(parameters), "operator");
    i = static_cast<std::size_t>(before - declaration.begin());
    if (i == parameters) {
      if (i == 0) return;
      --i;  // the function's name
      if (i > 0 && declaration[i - 1] == "~") --i;
    }
    std::string name;
    while (i >= 2 && declaration[i - 1] == "::" && is_name(declaration[i - 2])) {
      name = name.empty() ? declaration[i - 2] : declaration[i - 2] + "::" + name;
      i -= 2;
    }
    if (!name.empty()) members_.insert(name);
  }

  Tokens tokens_;
  std::size_t at_ = 0;
  ScannedSource source_;
  std::set<std::string> members_;
};

}  // namespace

ScannedSource scan_source(std::string_view text) { return Scanner(Lexer(text).take()).take(); }

}  // namespace wm::structure
