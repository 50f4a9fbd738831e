#include "base/pattern.h"

#include <stdexcept>

namespace wm {

struct Pattern::Found {
  std::size_t begin;
  std::size_t end;
  Match groups;
};

Pattern::Pattern(const std::string& expression) : compiled_{} {
  if (regcomp(&compiled_, expression.c_str(), REG_EXTENDED) != 0)
    throw std::invalid_argument("'" + expression + "' is not a regular expression");
}

Pattern::~Pattern() { regfree(&compiled_); }

std::vector<Pattern::Found> Pattern::find(const std::string& text) const {
  std::vector<Found> found;
  std::vector<regmatch_t> groups(compiled_.re_nsub + 1);
  // REG_STARTEND searches a part of the text, so that \b sees the character before the part.
  for (std::size_t from = 0; from <= text.size();) {
    groups[0] = {static_cast<regoff_t>(from), static_cast<regoff_t>(text.size())};
    if (regexec(&compiled_, text.c_str(), groups.size(), groups.data(), REG_STARTEND) != 0) break;
    Found next{static_cast<std::size_t>(groups[0].rm_so), static_cast<std::size_t>(groups[0].rm_eo), {}};
    for (const regmatch_t& group : groups) {
      next.groups.push_back(
          group.rm_so < 0 ? "" : text.substr(std::size_t(group.rm_so), std::size_t(group.rm_eo - group.rm_so)));
    }
    from = next.end + (next.end == next.begin ? 1 : 0);
    found.push_back(std::move(next));
  }
  return found;
}

std::vector<Pattern::Match> Pattern::matches(const std::string& text) const {
  std::vector<Match> all;
  for (Found& found : find(text)) all.push_back(std::move(found.groups));
  return all;
}

std::string Pattern::replace(const std::string& text, const std::string& with) const {
  std::string out;
  std::size_t copied = 0;
  for (const Found& found : find(text)) {
    out.append(text, copied, found.begin - copied);
    for (std::size_t i = 0; i < with.size(); ++i) {
      const bool group = with[i] == '$' && i + 1 < with.size() && with[i + 1] >= '1' && with[i + 1] <= '9';
      const auto index = group ? static_cast<std::size_t>(with[++i] - '0') : 0;
      if (!group) {
        out += with[i];
      } else if (index < found.groups.size()) {
        out += found.groups[index];
      }
    }
    copied = found.end;
  }
  return out.append(text, copied);
}

}  // namespace wm
