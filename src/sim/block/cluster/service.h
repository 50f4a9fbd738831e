// A class of requests to a cluster: how often they arrive, and the part of a GPU each takes for how long.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "sim/block/arrivals.h"

namespace wm::sim {

// Parts of a GPU are in 1/65536.
inline constexpr std::uint32_t kWholeGpu = 1U << 16;

struct Service {
  std::string name;
  Cycles work{1};                    // time of a request on a GPU of its own
  std::uint32_t demand = kWholeGpu;  // part of its time in which such a request has the GPU at work
  Cycles deadline = kNever;          // goodput counts requests that end within it
  Arrivals arrivals;                 // open
};

}  // namespace wm::sim
