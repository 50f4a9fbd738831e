// The warps a scheduler chooses from, and the contract of the files in schedulers/ (docs/guide/warp-scheduler.md).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sim/cycle/sm/wheel.h"

namespace wm::sim {

inline constexpr std::uint32_t kMaxWarps = 64;  // limit of one scheduler
inline constexpr std::uint32_t kNoWarp = kMaxWarps;

// The warps of one scheduler are numbered from 0; a mask has a bit for each.
struct WarpChoice {
  WarpMask candidates = 0;                       // warps that can issue in this cycle; never 0
  std::uint32_t last = kNoWarp;                  // the warp that issued last; kNoWarp: none so far
  const std::array<WarpMask, kMaxWarps>& older;  // by warp: warps that came before it (and some that are gone)

  [[nodiscard]] bool can_issue(std::uint32_t warp) const { return warp < kMaxWarps && (candidates >> warp & 1) != 0; }
  // The candidate that has been on the SM for longest.
  [[nodiscard]] std::uint32_t oldest() const { return oldest(candidates); }
  // The one of `among` that has been on the SM for longest. `among` must not be 0.
  [[nodiscard]] std::uint32_t oldest(WarpMask among) const {
    std::uint32_t warp = first(among);
    for (WarpMask m = among & older[warp]; m != 0; m = among & older[warp]) warp = first(m);
    return warp;
  }
  // The mask of one warp; of kNoWarp 0.
  [[nodiscard]] static WarpMask bit(std::uint32_t warp) {
    return static_cast<WarpMask>(warp < kMaxWarps) << warp % kMaxWarps;
  }
  // The first warp of `among` with a larger number than `warp`, else the first of all. `among` must not be 0.
  [[nodiscard]] static std::uint32_t next_after(WarpMask among, std::uint32_t warp) {
    const WarpMask later = warp >= 63 ? 0 : among & ~((WarpMask{2} << warp) - 1);
    return first(later != 0 ? later : among);
  }
  [[nodiscard]] static std::uint32_t first(WarpMask mask) { return static_cast<std::uint32_t>(std::countr_zero(mask)); }
};

}  // namespace wm::sim
