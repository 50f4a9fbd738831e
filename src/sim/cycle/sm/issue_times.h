// The times at which the schedulers of an SM next have something to do.
//
// The load/store unit is shared by all schedulers, so its times are kept apart: a scheduler whose only work is for that
// unit is skipped while the unit is busy.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "gpu/gpu_config.h"
#include "sim/cycle/sm/wheel.h"

namespace wm::sim {

inline constexpr std::uint32_t kMaxSchedulers = 4;
inline constexpr std::size_t kLoadStore = static_cast<std::size_t>(gpu::Unit::load_store);
static_assert(kLoadStore == Wheel::kApart);

class IssueTimes {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  IssueTimes() {
    due_.fill(kNever);
    lsu_due_.fill(kNever);
  }

  // The scheduler's next work for the load/store unit, and for the other units.
  void set(std::uint32_t scheduler, std::uint64_t due, std::uint64_t lsu_due) {
    due_[scheduler] = due;
    lsu_due_[scheduler] = lsu_due;
  }
  // A warp of the scheduler may issue to the unit at `at`.
  void no_later(std::uint32_t scheduler, std::size_t unit, std::uint64_t at) {
    std::uint64_t& due = unit == kLoadStore ? lsu_due_[scheduler] : due_[scheduler];
    due = std::min(due, at);
  }
  // Every scheduler is due at `now`.
  void all_no_later(std::uint64_t now) {
    for (std::uint64_t& due : due_) due = std::min(due, now);
    for (std::uint64_t& due : lsu_due_) due = std::min(due, now);
  }
  // The load/store unit takes another instruction, of any scheduler, at `at`.
  void open_lsu(std::uint64_t at) { lsu_open_ = at; }

  [[nodiscard]] std::uint64_t due(std::uint32_t scheduler) const { return due_[scheduler]; }
  [[nodiscard]] std::uint64_t lsu_due(std::uint32_t scheduler) const {
    return std::max(lsu_due_[scheduler], lsu_open_);
  }
  [[nodiscard]] std::uint64_t lsu_open() const { return lsu_open_; }
  // The first of all these times.
  [[nodiscard]] std::uint64_t earliest() const {
    std::uint64_t next = kNever;
    for (const std::uint64_t due : due_) next = std::min(next, due);
    std::uint64_t lsu = kNever;
    for (const std::uint64_t due : lsu_due_) lsu = std::min(lsu, due);
    return std::min(next, std::max(lsu, lsu_open_));
  }
  // Schedulers that have something to do in a cycle, as bits.
  struct Due {
    std::uint32_t any = 0;
    std::uint32_t without_lsu = 0;  // those that are due without the load/store unit
  };
  // The schedulers, of `count`, that are due at `now`: bit i stands for scheduler (first + i) % count.
  [[nodiscard]] Due due_at(std::uint64_t now, std::uint32_t first, std::uint32_t count) const {
    std::uint32_t due = 0;
    std::uint32_t lsu = 0;
    for (std::uint32_t i = kMaxSchedulers; i-- > 0;) {
      due = 2 * due + static_cast<std::uint32_t>(due_[i] <= now);
      lsu = 2 * lsu + static_cast<std::uint32_t>(lsu_due_[i] <= now);
    }
    // Both sets are turned as one number: `without_lsu` lies in its upper half.
    const std::uint32_t both = due << kUpper | due | (lsu_open_ <= now ? lsu : 0);
    const std::uint32_t turned = (both | both << count) >> first;
    const std::uint32_t mask = (1U << count) - 1;
    return {turned & mask, turned >> kUpper & mask};
  }

 private:
  static constexpr std::uint32_t kUpper = 16;

  std::array<std::uint64_t, kMaxSchedulers> due_;
  std::array<std::uint64_t, kMaxSchedulers> lsu_due_;
  std::uint64_t lsu_open_ = 0;
};

}  // namespace wm::sim
