// Static re-reference interval prediction with two bits: a line enters with a long predicted interval and gets the
// shortest when it is used; the first line with the longest interval goes. Jaleel et al., ISCA 2010 (SRRIP-HP).
#pragma once

#include <algorithm>

#include "sim/cycle/memory/cache_line.h"

namespace wm::sim::replacement {

struct Srrip {
  static constexpr std::uint32_t kLongest = 3;

  static void filled(CacheLine& line) { line.rank = kLongest - 1; }
  static void used(CacheLine& line) { line.rank = 0; }
  [[nodiscard]] static bool goes_before(const CacheLine& a, const CacheLine& b) { return a.rank > b.rank; }
  static CacheLine& victim(CacheSet set) {
    CacheLine& first = *std::min_element(set.begin(), set.end(), goes_before);
    const std::uint32_t by = kLongest - first.rank;
    for (CacheLine& line : set) line.rank += by;
    return first;
  }
};

}  // namespace wm::sim::replacement
