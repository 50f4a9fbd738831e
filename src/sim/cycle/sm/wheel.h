// When sleeping warps wake: a timing wheel of 64 cycles for the warps of one scheduler.
//
// A warp sleeps in at most one slot. Times further ahead than the wheel reaches are cut to its end; whoever wakes up
// looks again.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace wm::sim {

using WarpMask = std::uint64_t;

class Wheel {
 public:
  static constexpr std::uint32_t kSlots = 64;

  // Wakes the warps in `warps` at `when` > now; returns the time they will really wake.
  std::uint64_t sleep(WarpMask warps, std::uint64_t when, std::uint64_t now) {
    if (when - now >= kSlots) when = now + kSlots - 1;
    const std::uint32_t s = when % kSlots;
    slots_[s] |= warps;
    used_ |= std::uint64_t{1} << s;
    return when;
  }

  // The warps that wake at `now`; they are asleep no more. Every used slot must be asked for at its time.
  WarpMask take(std::uint64_t now) {
    const std::uint32_t s = now % kSlots;
    if ((used_ >> s & 1) == 0) return 0;
    used_ &= ~(std::uint64_t{1} << s);
    const WarpMask warps = slots_[s];
    slots_[s] = 0;
    return warps;
  }

  // Warps that leave, asleep or not.
  void forget(WarpMask warps) {
    for (WarpMask& slot : slots_) slot &= ~warps;
  }

  // The next time after `now` at which a slot is used; ~0 when all is awake.
  [[nodiscard]] std::uint64_t next(std::uint64_t now) const {
    if (used_ == 0) return ~std::uint64_t{0};
    const std::uint64_t turned = std::rotr(used_, static_cast<int>((now + 1) % kSlots));
    return now + 1 + static_cast<std::uint64_t>(std::countr_zero(turned));
  }

 private:
  std::uint64_t used_ = 0;
  std::array<WarpMask, kSlots> slots_{};
};

}  // namespace wm::sim
