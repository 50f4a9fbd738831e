// A timing wheel of 64 cycles that wakes the sleeping warps of one scheduler, each of a kind (the unit it needs next).
//
// A warp sleeps in at most one bucket. Times further ahead than the wheel reaches are cut to its end; a warp that wakes
// too early sleeps again. Buckets are taken in order of time, but not necessarily at their time: a bucket must be taken
// within 64 cycles.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace wm::sim {

using WarpMask = std::uint64_t;

class Wheel {
 public:
  static constexpr std::uint32_t kBuckets = 64;

  static constexpr std::uint32_t kKinds = 8;
  static constexpr std::size_t kApart = 5;  // the kind that first_but_apart() leaves out
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  // Puts `warps` to sleep until `when` > now; returns the time at which they wake, which may be earlier.
  std::uint64_t sleep(WarpMask warps, std::size_t kind, std::uint64_t when, std::uint64_t now) {
    if (when - now >= kBuckets) when = now + kBuckets - 1;
    const std::uint32_t s = when % kBuckets;
    buckets_[s] |= warps;
    used_ |= std::uint64_t{1} << s;
    of_[kind] |= std::uint64_t{1} << s;
    but_apart_ |= static_cast<std::uint64_t>(kind != kApart) << s;
    if (when < first_) first_ = when;
    return when;
  }

  // The next time at which a warp wakes; ~0: no warp sleeps.
  [[nodiscard]] std::uint64_t first() const { return first_; }
  // A time before which no warp of that kind wakes.
  [[nodiscard]] std::uint64_t first(std::size_t kind) { return first_of(of_[kind]); }
  // A time before which no warp of any kind but kApart wakes.
  [[nodiscard]] std::uint64_t first_but_apart() { return first_of(but_apart_); }

  // Removes and returns the warps that wake at first().
  WarpMask take() {
    const std::uint32_t s = first_ % kBuckets;
    used_ &= ~(std::uint64_t{1} << s);
    const WarpMask warps = buckets_[s];
    buckets_[s] = 0;
    first_ = used_ == 0 ? kNever : first_ + static_cast<std::uint64_t>(std::countr_zero(turned(used_, first_)));
    return warps;
  }

  // The same if their time has come by `now`, else none. Without branches: it is hard for the host to predict.
  WarpMask take_by(std::uint64_t now) {
    const auto due = static_cast<std::uint64_t>(first_ <= now);
    const std::uint32_t s = first_ % kBuckets;
    used_ &= ~(due << s);
    const WarpMask warps = buckets_[s] & (WarpMask{0} - due);
    buckets_[s] ^= warps;
    const std::uint64_t next = first_ + static_cast<std::uint64_t>(std::countr_zero(turned(used_, first_)));
    first_ = used_ == 0 ? kNever : next;
    return warps;
  }

  // Removes warps that leave the scheduler, asleep or not.
  void forget(WarpMask warps) {
    for (WarpMask& bucket : buckets_) bucket &= ~warps;
  }

 private:
  [[nodiscard]] std::uint64_t first_of(std::uint64_t& buckets) {
    buckets &= used_;
    const std::uint64_t at = first_ + static_cast<std::uint64_t>(std::countr_zero(turned(buckets, first_)));
    return buckets == 0 ? kNever : at;
  }
  static std::uint64_t turned(std::uint64_t buckets, std::uint64_t time) {
    return std::rotr(buckets, static_cast<int>(time % kBuckets));
  }

  std::uint64_t first_ = kNever;
  std::uint64_t used_ = 0;
  std::array<std::uint64_t, kKinds>
      of_{};                     // by kind: buckets that may hold warps of it; updated when the kind is queried
  std::uint64_t but_apart_ = 0;  // buckets that may hold warps of other kinds than kApart; updated likewise
  std::array<WarpMask, kBuckets> buckets_{};
};

}  // namespace wm::sim
