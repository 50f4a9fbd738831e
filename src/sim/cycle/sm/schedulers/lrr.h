// Loose round robin: the next warp by number that can issue.
#pragma once

#include "sim/cycle/sm/warp_choice.h"

namespace wm::sim::schedulers {

struct Lrr {
  static constexpr bool kGreedy = false;

  std::uint32_t pick(const WarpChoice& choice) { return WarpChoice::next_after(choice.candidates, choice.last); }
};

}  // namespace wm::sim::schedulers
