// Least recently used: the line whose last use is longest ago goes.
#pragma once

#include <algorithm>

#include "sim/cycle/memory/cache_line.h"

namespace wm::sim::replacement {

struct Lru {
  void filled(CacheLine& line) { line.rank = ++clock; }
  void used(CacheLine& line) { line.rank = ++clock; }
  [[nodiscard]] static bool goes_before(const CacheLine& a, const CacheLine& b) { return a.rank < b.rank; }
  CacheLine& victim(CacheSet set) { return *std::min_element(set.begin(), set.end(), goes_before); }

  std::uint32_t clock = 0;  // uses so far
};

}  // namespace wm::sim::replacement
