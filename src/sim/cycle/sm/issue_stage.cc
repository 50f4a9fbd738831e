#include "sim/cycle/sm/issue_stage.h"

#include <bit>

namespace wm::sim {

IssueStage::IssueStage(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm, IssueEvents& events)
    : events_(events), scattered_(config.l1.lookups_per_cycle != 1), warp_issue_(config, timing, sm, events) {
  power_of_two_ = std::has_single_bit(schedulers().count());
  greedy_ = schedulers().greedy() && warp_issue_.width() == 1;
}

void IssueStage::add(WarpSlot& w, std::uint64_t at) {
  w.ready = scoreboard().reset(warps().number_of(w), w.resident->run->kernel.program->scoreboard_size());
  schedulers().add(w, at);
}

// Warps that were held back may issue at once.
void IssueStage::set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now, bool resident) {
  schedulers().set_quota(kernel, instructions, now);
  wake_by(std::max(quota().spent_at(), now));
  if (instructions <= 0 || !resident) return;
  wake_by(now);
  schedulers().times().all_no_later(now);
}

// For schedulers that are not greedy, or issue several instructions in a cycle.
void IssueStage::issue_several(SchedulerState& s, std::uint32_t number, std::uint64_t now) {
  SchedulerSet& set = schedulers();
  WarpMask candidates = set.eligible(s, now);
  for (std::uint32_t issued = 0; candidates != 0;) {
    const std::uint32_t index = s.pick(candidates);
    s.last = index;
    warp_issue_.issue(s, set.warps().of(number, index), now);
    s.now = now + 1;
    if (++issued == warp_issue_.width() || s.port > now + 1) break;
    // A second instruction comes from the same warp, if it is ready for one.
    candidates = set.eligible(s, now) & (WarpMask{1} << index);
  }
}

// The time until which no event outside the scheduler makes a warp of `s` ready: replies, blocks that begin (also in
// place of one that ends from now on), barriers that complete from now on.
std::uint64_t IssueStage::undisturbed_until(const SchedulerState& s) const {
  std::uint64_t until = std::min(outside_.until, outside_.next);
  if (outside_.follows_after != kNever) until = std::min(until, now_ + outside_.follows_after);
  if (s.barrier != 0) until = std::min(until, now_ + barrier_release(1));
  return until;
}

// The warp that issued last if it can issue, else the one that the scheduler picks; null: none can issue.
WarpSlot* IssueStage::choose(SchedulerState& s, std::uint32_t number, std::uint64_t now) {
  SchedulerSet& set = schedulers();
  if (s.units_free > now && s.last < kMaxWarps) {  // it spares the examination of all units
    WarpSlot& last = set.warps().of(number, s.last);
    if ((s.ready & last.bit) != 0 && set.quota().closed() == 0 &&
        set.unit_free(s, static_cast<std::size_t>(last.unit)) <= now)
      return &last;
  }
  const WarpMask candidates = set.eligible(s, now);
  if (candidates == 0) return nullptr;
  s.last = s.pick(candidates);
  return &set.warps().of(number, s.last);
}

// A greedy scheduler stays with the warp that issued last whenever that can issue, independently of the others. As long
// as the warp's instructions are local they are issued at once, ahead of the other schedulers' time.
void IssueStage::issue_greedily(SchedulerState& s, WarpSlot& w, std::uint32_t number, std::uint64_t now) {
  SchedulerSet& set = schedulers();
  warp_issue_.issue(s, w, now);
  s.now = now + 1;
  set.set_due(s, number, now);
  // One branch for all conditions: each by itself is hard for the host to predict.
  const IssueTimes& times = set.times();
  const std::uint64_t next = times.due(number);
  if ((w.due <= next) & (next <= times.lsu_due(number)) & (w.unit != gpu::Unit::load_store) && may_go_on(w))
    go_on(s, w, number);
}

void IssueStage::go_on(SchedulerState& s, WarpSlot& w, std::uint32_t number) {
  SchedulerSet& set = schedulers();
  const IssueTimes& times = set.times();
  if (w.state != WarpState::waiting || !warp_issue_.is_local(w, *w.next)) return;
  const std::uint64_t end = undisturbed_until(s);
  for (std::uint64_t at = times.due(number); at < end; at = times.due(number)) {
    if (w.state != WarpState::waiting || w.due > at || !warp_issue_.is_local(w, *w.next)) return;
    if (s.free[static_cast<std::size_t>(w.unit)] > at || times.lsu_due(number) < at) return;
    set.catch_up(s, at);
    if (w.next->is_plain())
      at = warp_issue_.issue_run(s, w, at, end);
    else
      warp_issue_.issue_executed(s, w, at);
    s.now = at + 1;
    set.set_due(s, number, at);
  }
}

// One cycle of a scheduler.
void IssueStage::tick(std::uint32_t number, std::uint64_t now) {
  SchedulerSet& set = schedulers();
  SchedulerState& s = set[number];
  set.catch_up_to_tick(s, now);
  if (!greedy_) {
    if (s.port <= now) issue_several(s, number, now);
    return set.set_due(s, number, now);
  }
  if (s.port > now) return set.set_due(s, number, now);
  WarpSlot* w = choose(s, number, now);
  if (w == nullptr) return set.set_due(s, number, now);
  issue_greedily(s, *w, number, now);
}

// The scheduler that issues first in a cycle. If the load/store unit takes several cycles for an access, a rotation in
// step with the clock would always favour the same scheduler; in that case the order has no short period.
std::uint32_t IssueStage::first_scheduler(std::uint64_t now) const {
  const std::uint32_t count = warp_issue_.schedulers().count();
  if (!scattered_ && power_of_two_) return static_cast<std::uint32_t>(now) & (count - 1);
  if (!scattered_) return static_cast<std::uint32_t>(now % count);
  return static_cast<std::uint32_t>((now * 0x9e3779b97f4a7c15ULL >> 32) * count >> 32);
}

void IssueStage::run(std::uint64_t begin, std::uint64_t until) {
  const IssueTimes& times = schedulers().times();
  const std::uint32_t count = schedulers().count();
  outside_.until = until;
  bool dense = true;  // whether a scheduler was due in the cycle behind the last one
  for (now_ = begin;; ++now_) {
    const std::uint64_t event = std::min(outside_.next, quota().spent_at());
    std::uint32_t first = first_scheduler(now_);
    IssueTimes::Due due;
    if (dense && event > now_ && now_ < until) due = times.due_at(now_, first, count);
    if (due.any == 0) {
      const std::uint64_t from = now_;
      now_ = std::max(std::min(times.earliest(), event), now_);
      if (now_ >= until) return;
      if (outside_.next <= now_) events_.on_arrival(now_);
      if (quota().spent_at() <= now_) schedulers().close_spent(now_);
      dense = now_ == from;
      first = first_scheduler(now_);
      due = times.due_at(now_, first, count);
    }
    // Schedulers take turns at being first, so that none has the SM's common units to itself. Nothing that one does
    // makes another one due in the same cycle; but it may take the load/store unit.
    for (std::uint32_t m = due.any; m != 0; m &= times.lsu_open() <= now_ ? m - 1 : (m - 1) & due.without_lsu) {
      std::uint32_t i = first + static_cast<std::uint32_t>(std::countr_zero(m));
      if (i >= count) i -= count;
      tick(i, now_);
    }
  }
}

}  // namespace wm::sim
