#include "base/nearest.h"

#include <algorithm>

namespace wm {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme: a swap of neighbours looks two rows back.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, previous);
    std::swap(previous, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, previous[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  // One typing mistake for every three letters: 'ptx' may be 'ptc', but not 'sim'; 'epok' may be 'epoch'.
  std::size_t limit = std::max<std::size_t>(1, (name.size() + 2) / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= limit) continue;
    limit = distance;
    best = &candidate;
  }
  return best == nullptr ? std::string{} : *best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string meant = nearest(name, candidates);
  return meant.empty() ? std::string{} : " (did you mean '" + meant + "'?)";
}

}  // namespace wm
