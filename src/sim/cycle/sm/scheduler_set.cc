#include "sim/cycle/sm/scheduler_set.h"

namespace wm::sim {

SchedulerSet::SchedulerSet(const gpu::SmConfig& sm)
    : lsus_(sm.units[kLoadStore].per_sm ? 1 : sm.schedulers), warps_(sm.warps(), sm.schedulers) {
  const AnyWarpScheduler order = make_warp_scheduler(sm.warp_scheduler);
  for (SchedulerState& s : states_) s.order = order;
  for (std::uint32_t i = 0; i < warps_.size(); ++i) {
    states_[warps_[i].scheduler].wants[0] |= warps_[i].bit;
    states_[warps_[i].scheduler].units = 1;
  }
}

void SchedulerSet::remove(WarpSlot& w) {
  leave(w);
  states_[w.scheduler].remove(w);
  warps_.release(w);
}

void SchedulerSet::end(WarpSlot& w, std::uint64_t now) {
  SchedulerState& s = states_[w.scheduler];
  account(s, now);
  s.all &= ~w.bit;
  w.state = WarpState::done;
}

void SchedulerSet::set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now) {
  charge_until(now);
  quota_.set(kernel, instructions, now);
  update_one_open_kernel();
}

void SchedulerSet::close_spent(std::uint64_t now) {
  charge_until(now);
  quota_.close_spent(now);
  update_one_open_kernel();
}

void SchedulerSet::set_lsu(const BlockedLsu& lsu, std::uint64_t now) {
  charge_until(now);
  lsu_ = lsu;
}

// A blocked unit counts as occupied, by the kernel whose access waits (Warped-Slicer, table II).
void SchedulerSet::account_lsu(std::uint64_t now) {
  if (!lsu_.blocked || now <= lsu_.since) return;
  SmCounters& c = counters_[lsu_.kernel];
  c.unit_cycles[kLoadStore] += (now - lsu_.since) * lsus_;
  c.lsu_blocked_cycles += now - lsu_.since;
  lsu_.since = now;
}

std::uint32_t SchedulerSet::idle_warps(std::uint8_t kernel) const {
  if (quota_.is_closed(kernel)) return 0;  // its warps wait for quota, not for their turn
  std::uint32_t warps = 0;
  for (std::uint32_t i = 0; i < warps_.schedulers(); ++i) {
    const SchedulerState& s = states_[i];
    WarpMask ready = s.ready;
    // The warp that issued last is ready a cycle early (WarpIssue::prepare_next).
    if (s.last < kMaxWarps && warps_.of(i, s.last).due >= s.now) ready &= ~(WarpMask{1} << s.last);
    warps += static_cast<std::uint32_t>(std::popcount(ready & s.kernels[kernel]));
  }
  return warps;
}

// Attributes `cycles` without an issue to the first of these reasons that holds for any warp, and to the kernel of that
// warp.
void SchedulerSet::charge(SchedulerState& s, std::uint64_t cycles) {
  const WarpMask closed = quota_.closed() == 0 ? 0 : s.warps_of(quota_.closed());
  const WarpMask open = s.ready & ~closed;
  const WarpMask asleep = s.all & ~(s.ready | s.memory | s.barrier);
  const auto to = [&](WarpMask warps, Stall why) {
    counters_[s.kernel[WarpChoice::first(warps)]].stalls[static_cast<std::size_t>(why)] += cycles;
  };
  if (open != 0) {
    // Warps that all wait for a load/store unit which memory holds up wait for memory (Warped-Slicer, equation 3).
    const bool held_up = lsu_.blocked && (open & ~s.wants[kLoadStore]) == 0;
    return to(open, held_up ? Stall::memory : Stall::unit);
  }
  if (s.memory != 0) return to(s.memory, Stall::memory);
  if ((asleep & ~s.fetching) != 0) return to(asleep & ~s.fetching, Stall::dependency);
  if (asleep != 0) return to(asleep, Stall::fetch);
  if (s.barrier != 0) return to(s.barrier, Stall::barrier);
  if (s.ready != 0) return to(s.ready, Stall::quota);
}

// Warps that woke too early, at the wheel's maximum time, sleep again; returns the others.
WarpMask SchedulerSet::sleep_on(SchedulerState& s, WarpMask woken, std::uint64_t now) {
  for (WarpMask m = woken & s.far; m != 0; m &= m - 1) {
    const WarpSlot& w = warps_.of(static_cast<std::uint32_t>(&s - states_.data()), WarpChoice::first(m));
    s.far &= ~w.bit;
    if (w.due <= now) continue;
    woken &= ~w.bit;
    times_.no_later(w.scheduler, static_cast<std::size_t>(w.unit), s.sleep(w, now));
  }
  return woken;
}

}  // namespace wm::sim
