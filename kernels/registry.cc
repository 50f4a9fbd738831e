#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "base/nearest.h"
#include "kernels/benchmark.h"

namespace wm::zoo {

std::vector<Entry> all_entries();  // written by the build

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
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
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (entry.benchmark.name == name) return &entry;
    names.push_back(entry.benchmark.name);
  }
  for (const Entry& entry : entries())
    for (const std::string& alias : entry.benchmark.aliases)
      if (lower(alias) == wanted) return &entry;
  return Error{fmt::format("no benchmark is named '{}'{}; `wm kernels` lists them", name, did_you_mean(wanted, names))};
}

}  // namespace wm::zoo
