// Which of the warps that can issue does, and where the cycles went in which none could.
#include <bit>

#include "sim/cycle/sm/sm.h"

namespace wm::sim {
namespace {

constexpr std::uint32_t kGroup = 8;  // warps of two-level scheduling that are active together

std::uint32_t first(WarpMask mask) { return static_cast<std::uint32_t>(std::countr_zero(mask)); }

// The first warp after `last`, round and round.
std::uint32_t after(WarpMask mask, std::uint32_t last) {
  const WarpMask later = last >= 63 ? 0 : mask & ~((WarpMask{2} << last) - 1);
  return first(later != 0 ? later : mask);
}

}  // namespace

std::uint32_t Sm::pick(Scheduler& s, WarpMask candidates) const {
  switch (config_.sm.policy) {
    case gpu::WarpScheduler::gto: {
      // Greedy: the one that issued last; then the oldest.
      if (s.last < 64 && (candidates >> s.last & 1) != 0) return s.last;
      std::uint32_t oldest = first(candidates);
      for (WarpMask m = candidates & s.older[oldest]; m != 0; m = candidates & s.older[oldest]) oldest = first(m);
      return oldest;
    }
    case gpu::WarpScheduler::lrr:
      return after(candidates, s.last);
    case gpu::WarpScheduler::two_level: {
      // Within the active group round robin; when none of it can issue, the next group that can becomes active.
      const WarpMask group = candidates & (((WarpMask{1} << kGroup) - 1) << s.active);
      if (group != 0) return after(group, s.last);
      const std::uint32_t next = after(candidates, s.active + kGroup - 1);
      s.active = next / kGroup * kGroup;
      return next;
    }
  }
  return first(candidates);
}

// Nothing was issued for some cycles: the reason is the first of these that holds for any warp, and the cycles go to
// the kernel of that warp.
void Sm::charge(Scheduler& s, std::uint64_t cycles) {
  const WarpMask closed = quotas_spent_ == 0 ? 0 : gated(s);
  const WarpMask open = s.ready & ~closed;
  const WarpMask asleep = s.all & ~(s.ready | s.memory | s.barrier);
  const auto to = [&](WarpMask warps, Stall why) {
    counters_[s.kernel[first(warps)]].stalls[static_cast<std::size_t>(why)] += cycles;
  };
  if (open != 0) return to(open, Stall::unit);
  if (s.memory != 0) return to(s.memory, Stall::memory);
  if (asleep != 0) return to(asleep, Stall::dependency);
  if (s.barrier != 0) return to(s.barrier, Stall::barrier);
  if (s.ready != 0) return to(s.ready, Stall::quota);
}

}  // namespace wm::sim
