// Extended regular expressions of POSIX, with the \b, \s and \w of GNU. They take no time to compile, whereas the
// templates of std::regex take four seconds in each source that names them.
#pragma once

#include <regex.h>
#include <string>
#include <vector>

namespace wm {

class Pattern {
 public:
  // Throws std::invalid_argument when `expression` is not a regular expression.
  explicit Pattern(const std::string& expression);
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern();

  // A match: the whole text of it, then each group, empty where the group took no part.
  using Match = std::vector<std::string>;
  [[nodiscard]] std::vector<Match> matches(const std::string& text) const;

  // `text` with every match replaced by `with`, in which $1 to $9 stand for the groups.
  [[nodiscard]] std::string replace(const std::string& text, const std::string& with) const;

 private:
  struct Found;
  [[nodiscard]] std::vector<Found> find(const std::string& text) const;

  regex_t compiled_;
};

}  // namespace wm
