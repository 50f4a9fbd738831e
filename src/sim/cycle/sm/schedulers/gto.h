// Greedy, then oldest: the warp that issued last, as long as it can; then the one that has been on the SM for longest.
// Rogers et al., MICRO 2012.
#pragma once

#include "sim/cycle/sm/warp_choice.h"

namespace wm::sim::schedulers {

struct Gto {
  static constexpr bool kGreedy = true;

  // Without a branch: whether the last warp can issue is hard for the host to predict.
  std::uint32_t pick(const WarpChoice& choice) {
    const WarpMask last = choice.candidates & WarpChoice::bit(choice.last);
    return choice.oldest(last != 0 ? last : choice.candidates);
  }
};

}  // namespace wm::sim::schedulers
