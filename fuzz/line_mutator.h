// Mutations after which most of a PTX text still parses: lines are moved, inserted and removed; numbers change within
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace wm::fuzz {

class LineMutator {
 public:
  LineMutator(std::string_view text, std::uint64_t seed) : random_(seed), lines_(split(text)) {}

  // A few mutations; `donor` gives lines to insert (it may be the text itself).
  std::string mutate(std::string_view donor) {
    const std::vector<std::string> other = split(donor);
    const std::uint32_t rounds = 1 + random_.below(4);
    for (std::uint32_t i = 0; i < rounds; ++i) once(other);
    std::string out;
    for (const std::string& line : lines_) out += line + '\n';
    return out;
  }

 private:
  static std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      lines.emplace_back(text.substr(0, end));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    return lines;
  }

  std::uint32_t place(std::size_t size) { return random_.below(static_cast<std::uint32_t>(size)); }

  void once(const std::vector<std::string>& other) {
    if (lines_.empty()) return;
    const auto at = lines_.begin() + place(lines_.size());
    switch (random_.below(6)) {
      case 0:
        lines_.erase(at);
        return;
      case 1:
        lines_.insert(at, std::string(lines_[place(lines_.size())]));
        return;
      case 2:
        if (!other.empty()) lines_.insert(at, other[place(other.size())]);
        return;
      case 3:
        std::swap(*at, lines_[place(lines_.size())]);
        return;
      default:
        change_number(*at);
        return;
    }
  }

  // One run of digits becomes another: an immediate, an offset, a register's number, a type's width.
  void change_number(std::string& line) {
    static constexpr const char* kNumbers[] = {
        "0",  "1",  "2",  "3",     "4",    "7",    "8",          "16",         "31",
        "32", "33", "64", "65535", "4095", "4096", "2147483647", "4294967295", "0xffffffffffffffff"};
    std::vector<std::size_t> starts;
    const auto digit = [&](std::size_t i) { return line[i] >= '0' && line[i] <= '9'; };
    for (std::size_t i = 0; i < line.size(); ++i)
      if (digit(i) && (i == 0 || !digit(i - 1))) starts.push_back(i);
    if (starts.empty()) return;
    const std::size_t start = starts[place(starts.size())];
    std::size_t end = start;
    while (end < line.size() && digit(end)) ++end;
    line.replace(start, end - start, kNumbers[place(std::size(kNumbers))]);
  }

  Random random_;
  std::vector<std::string> lines_;
};

}  // namespace wm::fuzz
