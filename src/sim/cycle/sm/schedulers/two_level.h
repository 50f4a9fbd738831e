// Two levels: round robin within the active group of warps; when none of it can issue, the next group that can becomes
// active. Narasiman et al., MICRO 2011.
#pragma once

#include "sim/cycle/sm/warp_choice.h"

namespace wm::sim::schedulers {

struct TwoLevel {
  static constexpr bool kGreedy = false;
  static constexpr std::uint32_t kGroup = 8;  // warps

  std::uint32_t pick(const WarpChoice& choice) {
    const WarpMask group = choice.candidates & (((WarpMask{1} << kGroup) - 1) << active);
    if (group != 0) return WarpChoice::next_after(group, choice.last);
    const std::uint32_t next = WarpChoice::next_after(choice.candidates, active + kGroup - 1);
    active = next / kGroup * kGroup;
    return next;
  }

  std::uint32_t active = 0;  // the first warp of the active group
};

}  // namespace wm::sim::schedulers
