#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "kernels/benchmark.h"

namespace wm::zoo {

std::vector<Entry> all_entries();  // written by the build

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Edits (insert, remove, replace) that turn one into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> sorted = all_entries();
    std::sort(sorted.begin(), sorted.end(),
              [](const Entry& a, const Entry& b) { return a.benchmark.name < b.benchmark.name; });
    return sorted;
  }();
  return all;
}

Result<const Entry*> find(std::string_view name) {
  const std::string wanted = lower(name);
  const std::string* nearest = nullptr;
  std::size_t nearest_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const Entry& entry : entries()) {
    if (entry.benchmark.name == name) return &entry;
    if (const std::size_t d = distance(wanted, entry.benchmark.name); d < nearest_distance) {
      nearest_distance = d;
      nearest = &entry.benchmark.name;
    }
  }
  for (const Entry& entry : entries())
    for (const std::string& alias : entry.benchmark.aliases)
      if (lower(alias) == wanted) return &entry;
  const std::string hint = nearest != nullptr ? fmt::format(" (did you mean '{}'?)", *nearest) : "";
  return Error{fmt::format("no benchmark is named '{}'{}", name, hint)};
}

}  // namespace wm::zoo
