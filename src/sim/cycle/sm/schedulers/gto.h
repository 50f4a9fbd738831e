// Greedy, then oldest: the warp that issued last, as long as it can; then the one that has been on the SM for longest.
// Rogers et al., MICRO 2012.
#pragma once

#include "sim/cycle/sm/warp_choice.h"

namespace wm::sim::schedulers {

struct Gto {
  static constexpr bool kGreedy = true;

  std::uint32_t pick(const WarpChoice& choice) { return choice.can_issue(choice.last) ? choice.last : choice.oldest(); }
};

}  // namespace wm::sim::schedulers
