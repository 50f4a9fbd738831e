// The schedulers of an SM and their warps: which warps can issue, when a scheduler next has something to do, and where
// the cycles went in which none issued.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "gpu/gpu_config.h"
#include "sim/cycle/sm/issue_times.h"
#include "sim/cycle/sm/kernel_counters.h"
#include "sim/cycle/sm/quota_gate.h"
#include "sim/cycle/sm/scheduler_state.h"
#include "sim/cycle/sm/warp_table.h"

namespace wm::sim {

class SchedulerSet {
 public:
  static constexpr std::uint64_t kNever = IssueTimes::kNever;

  explicit SchedulerSet(const gpu::SmConfig& sm);

  [[nodiscard]] SchedulerState& operator[](std::uint32_t number) { return states_[number]; }
  [[nodiscard]] std::uint32_t count() const { return warps_.schedulers(); }
  // Whether the schedulers stay with the warp that issued last whenever that can issue.
  [[nodiscard]] bool greedy() const { return is_greedy(states_[0].order); }
  [[nodiscard]] WarpTable& warps() { return warps_; }
  [[nodiscard]] const WarpTable& warps() const { return warps_; }
  [[nodiscard]] IssueTimes& times() { return times_; }
  [[nodiscard]] const IssueTimes& times() const { return times_; }
  [[nodiscard]] const QuotaGate& quota() const { return quota_; }
  [[nodiscard]] KernelCounters& counters() { return counters_; }
  [[nodiscard]] const KernelCounters& counters() const { return counters_; }

  // --- warps
  // The warp, by its slot, joins its scheduler at `at`.
  void add(const WarpSlot& w, std::uint64_t at) { states_[w.scheduler].add(warps_.index_of(w), w.kernel, at); }
  void remove(WarpSlot& w);
  // Takes the warp out of the set that its state says it is in.
  void leave(const WarpSlot& w) { states_[w.scheduler].leave(w); }
  // The warp has exited; from `now` on nothing is charged to it.
  void end(WarpSlot& w, std::uint64_t now);

  // --- kernels and quotas
  // The number of kernels with blocks on the SM.
  void set_kernels(std::uint32_t kernels) {
    kernels_ = kernels;
    update_one_open_kernel();
  }
  // Whether all warps are of one kernel, and it may issue.
  [[nodiscard]] bool one_open_kernel() const { return one_open_kernel_; }
  void set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now);
  // Kernels whose quota was spent since the last call, as bits.
  std::uint32_t take_spent() { return quota_.take_newly_closed(); }
  // At `now` it is known that an instruction of the kernel completes at `at`. Every executed instruction is counted,
  // whether it took an issue slot or not: rates and goals count in the same way.
  void spend(std::uint8_t kernel, std::uint32_t lanes, std::uint64_t now, std::uint64_t at) {
    if (quota_.has_quota(kernel)) quota_.spend(kernel, lanes, now, at);
  }
  // Closes the kernels that have spent their quota by `now`.
  void close_spent(std::uint64_t now);

  // --- the load/store unit
  // From `now` on memory holds up the load/store unit, and an access of the kernel waits there; the unit is occupied
  // for it from `from` on.
  void block_lsu(std::uint8_t kernel, std::uint64_t now, std::uint64_t from) {
    if (!lsu_.blocked || lsu_.kernel != kernel) set_lsu({true, kernel, from}, now);
  }
  void unblock_lsu(std::uint64_t now) {
    if (lsu_.blocked) set_lsu({}, now);
  }

  // --- choice
  // Warps that can issue now.
  [[nodiscard]] WarpMask eligible(const SchedulerState& s, std::uint64_t now) const;
  // When the unit takes another warp of the scheduler.
  [[nodiscard]] std::uint64_t unit_free(const SchedulerState& s, std::size_t unit) const {
    return unit == kLoadStore ? std::max(s.free[unit], times_.lsu_open()) : s.free[unit];
  }
  // Sets the time, after `now`, at which a warp has its operands and its unit is free; warps that wake earlier need not
  // be examined.
  void set_due(SchedulerState& s, std::uint32_t number, std::uint64_t now);
  // The earliest cycle at which a warp of the scheduler may issue to another unit than `unit`.
  [[nodiscard]] std::uint64_t others_due(SchedulerState& s, std::uint32_t number, gpu::Unit unit,
                                         std::uint64_t now) const;

  // --- cycles without an issue
  // Brings the stall counters up to `now`, which no run has passed; the others are always up to date.
  void charge_until(std::uint64_t now) {
    for (SchedulerState& s : states_) account(s, now);
    account_lsu(now);
  }
  // The same for one scheduler, and warps that wake at `now` are awake too.
  void catch_up(SchedulerState& s, std::uint64_t now);
  // The same where the host cannot predict whether warps wake or cycles have passed.
  void catch_up_to_tick(SchedulerState& s, std::uint64_t now);
  // Warps of the kernel that could issue but did not, by the time of charge_until().
  [[nodiscard]] std::uint32_t idle_warps(std::uint8_t kernel) const;

 private:
  struct BlockedLsu {
    bool blocked = false;
    std::uint8_t kernel = 0;  // the kernel whose access waits
    std::uint64_t since = 0;  // the first cycle that is not accounted for
  };

  void set_lsu(const BlockedLsu& lsu, std::uint64_t now);
  void account_lsu(std::uint64_t now);
  void update_one_open_kernel() { one_open_kernel_ = kernels_ == 1 && quota_.closed() == 0; }
  void charge(SchedulerState& s, std::uint64_t cycles);
  void charge_cycles(SchedulerState& s, std::uint64_t until) {
    if (until <= s.now) return;
    const std::uint64_t cycles = until - s.now;
    s.now = until;
    if (s.all != 0) charge(s, cycles);
  }
  // Brings masks and stalls up to `until`: warps that wake before it are awake.
  void account(SchedulerState& s, std::uint64_t until) {
    while (s.wheel.first() < until) {
      charge_cycles(s, s.wheel.first());
      wake_first(s);
    }
    charge_cycles(s, until);
  }
  void wake_first(SchedulerState& s) {
    const std::uint64_t at = s.wheel.first();
    wake(s, s.wheel.take(), at);
  }
  void wake(SchedulerState& s, WarpMask woken, std::uint64_t at) {
    if ((woken & s.far) != 0) woken = sleep_on(s, woken, at);
    s.ready |= woken;
  }
  WarpMask sleep_on(SchedulerState& s, WarpMask woken, std::uint64_t now);

  std::uint32_t kernels_ = 0;
  bool one_open_kernel_ = false;
  std::uint32_t lsus_;  // load/store units of the SM
  BlockedLsu lsu_;
  IssueTimes times_;
  std::array<SchedulerState, kMaxSchedulers> states_;
  WarpTable warps_;
  QuotaGate quota_;
  KernelCounters counters_;
};

// Units are examined without branches: which of them are free is hard for the host to predict.
inline WarpMask SchedulerSet::eligible(const SchedulerState& s, std::uint64_t now) const {
  const auto of = [&](std::size_t unit, bool free) {
    return s.wants[unit] & (WarpMask{0} - static_cast<WarpMask>(free));
  };
  const WarpMask lsu = of(kLoadStore, std::max(s.free[kLoadStore], times_.lsu_open()) <= now);
  WarpMask mask = lsu | ~s.wants[kLoadStore];
  if (s.units_free > now) {
    mask = lsu;
    for (std::size_t unit = 0; unit < gpu::kUnits; ++unit)
      if (unit != kLoadStore) mask |= of(unit, s.free[unit] <= now);
  }
  mask &= s.ready;
  return quota_.closed() == 0 ? mask : mask & ~s.warps_of(quota_.closed());
}

inline void SchedulerSet::set_due(SchedulerState& s, std::uint32_t number, std::uint64_t now) {
  const WarpMask open = quota_.closed() == 0 ? s.ready : s.ready & ~s.warps_of(quota_.closed());
  if (std::max(s.units_free, s.port) <= now + 1) {
    // Both times are found before the choices, so that these are no branches: they are hard for the host to predict.
    const WarpMask lsu = open & s.wants[kLoadStore];
    std::uint64_t due = s.wheel.first_but_apart();
    std::uint64_t lsu_due = s.wheel.first(kLoadStore);
    due = open != lsu ? now + 1 : due;
    lsu_due = lsu != 0 ? now + 1 : lsu_due;
    return times_.set(number, due, lsu_due > s.free[kLoadStore] ? lsu_due : s.free[kLoadStore]);
  }
  const auto from = [&](std::size_t unit) {
    const std::uint64_t at = (open & s.wants[unit]) != 0 ? now + 1 : s.wheel.first(unit);
    return std::max(at, s.free[unit]);
  };
  std::uint64_t due = kNever;
  for (std::uint32_t m = s.units & ~(1U << kLoadStore); m != 0 && due > now + 1; m &= m - 1)
    due = std::min(due, from(static_cast<std::size_t>(std::countr_zero(m))));
  times_.set(number, std::max(due, s.port),
             (s.units >> kLoadStore & 1) != 0 ? std::max(from(kLoadStore), s.port) : kNever);
}

inline std::uint64_t SchedulerSet::others_due(SchedulerState& s, std::uint32_t number, gpu::Unit unit,
                                              std::uint64_t now) const {
  std::uint64_t due = times_.lsu_due(number);
  for (std::uint32_t m = s.units & ~(1U << kLoadStore | 1U << static_cast<std::size_t>(unit)); m != 0; m &= m - 1) {
    const auto other = static_cast<std::size_t>(std::countr_zero(m));
    const std::uint64_t at = (s.ready & s.wants[other]) != 0 ? now + 1 : s.wheel.first(other);
    due = std::min(due, std::max(at, unit_free(s, other)));
  }
  return due;
}

// While all ready warps of one kernel wait only for a unit that memory does not hold up, the stall reason does not
// depend on which others wake.
inline void SchedulerSet::catch_up(SchedulerState& s, std::uint64_t now) {
  const bool same_reason = one_open_kernel_ && !lsu_.blocked;
  while (s.wheel.first() <= now) {
    if (!same_reason || s.ready == 0) charge_cycles(s, s.wheel.first());
    wake_first(s);
  }
  charge_cycles(s, now);
}

inline void SchedulerSet::catch_up_to_tick(SchedulerState& s, std::uint64_t now) {
  const bool same_reason = one_open_kernel_ && !lsu_.blocked;
  if (!same_reason || s.ready == 0) return catch_up(s, now);
  const std::uint64_t until = s.now > now ? s.now : now;
  counters_[s.kernel[WarpChoice::first(s.ready)]].stalls[static_cast<std::size_t>(Stall::unit)] += until - s.now;
  s.now = until;
  const std::uint64_t first = s.wheel.first();
  wake(s, s.wheel.take_by(now), first);
  while (s.wheel.first() <= now) wake_first(s);
}

}  // namespace wm::sim
