// The launches that take time: "5" for the fifth and all later ones, "5-7" for three.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/result.h"

namespace wm::runtime {

struct LaunchRange {
  std::uint64_t first = 1;  // launches are counted from 1
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
};

// An empty text names all launches.
Result<LaunchRange> parse_launch_range(const std::string& text);

}  // namespace wm::runtime
