// The schedulers' loop: when a warp's next instruction can issue, which of those that can does, what its issue takes,
// and where the cycles went in which none could. One file, so that a compiler can make one piece of it.
#include <algorithm>
#include <bit>
#include <utility>

#include "sim/cycle/sm/sm.h"

namespace wm::sim {
namespace {

constexpr std::uint64_t kNeverCycle = ~std::uint64_t{0};
constexpr std::uint32_t kGroup = 8;  // warps of two-level scheduling that are active together

std::uint32_t first(WarpMask mask) { return static_cast<std::uint32_t>(std::countr_zero(mask)); }

// The first warp after `last`, round and round.
std::uint32_t after(WarpMask mask, std::uint32_t last) {
  const WarpMask later = last >= 63 ? 0 : mask & ~((WarpMask{2} << last) - 1);
  return first(later != 0 ? later : mask);
}

}  // namespace

bool Ahead::refill(exec::Warp& warp, std::uint32_t banks) {
  const auto note = [](const exec::Access& a, std::uint32_t count) {
    return std::bit_cast<std::uint32_t>(
        SharedNote{static_cast<std::uint16_t>(shared_cycles(a, count)),
                   static_cast<std::uint16_t>(std::popcount(a.lanes) * std::max(1, a.bytes / 4))});
  };
  head_ = 0;
  count_ = static_cast<std::uint16_t>(warp.run_ahead(ops_.data(), kMost, {note, banks}));
  return count_ != 0;
}

void Sm::take_unit(Scheduler& s, const TimedOp& op, std::uint64_t now) {
  const auto unit = static_cast<std::size_t>(op.unit);
  ((sm_units_ >> unit & 1) != 0 ? sm_free_[unit] : s.free[unit]) = now + op.occupies;
  s.port = now + op.slots;
}

// Until `w.due`.
void Sm::sleep(Scheduler& s, WarpSlot& w, std::uint64_t now) {
  const auto unit = static_cast<std::size_t>(w.unit);
  const std::uint64_t wakes = s.wheel.sleep(w.bit, unit, w.due, now);
  s.far = wakes == w.due ? s.far & ~w.bit : s.far | w.bit;
  due_from(w.scheduler, unit, wakes);
}

std::uint64_t Sm::fetch(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
  if (op.line == w.line) return now;
  w.line = op.line;
  const LineAddress address = (std::uint64_t{w.kernel} << 48) | op.line;
  if (icache_.lookup(address, 1) != 0) return now;
  icache_.fill(address, 1, false);
  return now + config_.icache.miss_latency;
}

// When all that `op` reads and writes can be used.
std::uint64_t Sm::last_operand(const WarpSlot& w, const TimedOp& op) const {
  std::uint32_t latest = 0;
  const std::uint32_t* operands = w.registers + op.first_register;
  for (std::uint32_t i = 0, n = std::uint32_t{op.reads} + op.writes; i < n; ++i)
    latest = std::max(latest, w.ready[operands[i]]);
  return latest == kUnknown ? kPending : epoch_ + latest;
}

// Executes what takes no issue slot; false: it faults, and is issued like any other so that somebody sees it.
bool Sm::fold(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
  std::uint32_t lanes = 0;
  if (w.ahead->empty()) {
    exec::Step step;
    w.warp->step(step);
    if (w.resident->run->block.fault()) return false;
    lanes = static_cast<std::uint32_t>(std::popcount(step.active));
  } else {
    lanes = w.ahead->front().lanes;
    w.ahead->pop();
  }
  count(w, op, lanes, false);
  spend(w.kernel, lanes, now);
  return true;
}

void Sm::prepare(std::uint32_t warp, std::uint64_t now, std::uint64_t not_before) {
  prepare_next(warp, now, not_before);
}

// Finds when the warp's next instruction can issue, executing what is folded on the way.
void Sm::prepare_next(std::uint32_t warp, std::uint64_t now, std::uint64_t not_before) {
  WarpSlot& w = warps_[warp];
  Scheduler& s = scheduler_of(warp);
  while (true) {
    // An atomic's result comes later than its issue: until then operations wait for their time.
    if (w.ahead->empty() && (w.atomics != 0 || !w.ahead->refill(*w.warp, config_.shared.banks)) && !w.warp->ready()) {
      if (w.warp->done()) return warp_ended(warp, now);
      w.state = State::barrier;
      s.barrier |= w.bit;
      ++w.resident->stuck;
      return;
    }
    const TimedOp& op = w.ops[w.ahead->empty() ? w.warp->next_pc() : w.ahead->front().pc];
    w.next = &op;
    const std::uint64_t fetched = fetch(w, op, now);
    std::uint64_t at = std::max(not_before, fetched);
    const std::uint64_t latest = last_operand(w, op);
    if (latest == kPending || (op.waits_for_loads && waits(w, op, at))) {
      w.state = State::memory;
      s.memory |= w.bit;
      return;
    }
    at = std::max(at, latest);
    // Without a quota what is folded waits like any other.
    if (op.folded && (quotas_spent_ >> w.kernel & 1) == 0 && fold(w, op, now)) {
      const std::uint32_t usable = at > not_before ? short_time(at) : 0;
      const std::uint32_t* written = w.registers + op.first_register + op.reads;
      for (std::uint32_t i = 0; i < op.writes; ++i) w.ready[written[i]] = usable;
      continue;
    }
    w.state = State::waiting;
    w.due = at;
    want(s, w, op.unit);
    if (at > now) {
      s.fetching = fetched == at ? s.fetching | w.bit : s.fetching & ~w.bit;
      return sleep(s, w, now);
    }
    s.ready |= w.bit;
    due_from(w.scheduler, static_cast<std::size_t>(op.unit), now);
    return;
  }
}

// What was executed ahead only takes its time now.
void Sm::issue_executed(Scheduler& s, std::uint32_t warp, const TimedOp& op, std::uint64_t now) {
  WarpSlot& w = warps_[warp];
  const exec::Executed executed = w.ahead->front();
  w.ahead->pop();
  count(w, op, executed.lanes, true);
  take_unit(s, op, now);
  spend(w.kernel, executed.lanes, now);
  if (op.copies == CopyRole::commit) commit_copies(w, now);
  std::uint64_t ready = now + op.latency;
  if (executed.note != 0) {
    const auto note = std::bit_cast<SharedNote>(executed.note);
    SmCounters& c = counters_[w.kernel];
    c.shared_lanes += note.words;
    c.shared_conflict_cycles += note.cycles - 1U;
    ready = lsu_.shared(note.cycles, now).ready;
  }
  const std::uint32_t* written = w.registers + op.first_register + op.reads;
  for (std::uint32_t i = 0; i < op.writes; ++i) w.ready[written[i]] = short_time(ready);
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.slots == 1;
  prepare_next(warp, now, turns ? ready : now + (second ? 0 : 1));
}

void Sm::issue(Scheduler& s, std::uint32_t warp, std::uint64_t now) {
  WarpSlot& w = warps_[warp];
  const TimedOp& op = *w.next;
  s.ready &= ~w.bit;
  if (!w.ahead->empty()) return issue_executed(s, warp, op, now);
  Resident& r = *w.resident;
  if (atomics_ != 0 && (op.kind == TimedKind::load || op.kind == TimedKind::store) && behind_atomic(w)) {
    w.state = State::memory;
    s.memory |= w.bit;
    behind_.push_back(static_cast<std::uint16_t>(warp));
    return;
  }
  exec::Step step;
  r.run->block.clock = now;
  w.warp->step(step);
  const auto lanes = static_cast<std::uint32_t>(std::popcount(step.active));
  count(w, op, lanes, true);
  take_unit(s, op, now);
  spend(w.kernel, lanes, now);
  if (r.run->block.fault()) return raise(r);
  if (op.copies == CopyRole::commit) commit_copies(w, now);

  std::uint64_t ready = now + op.latency;
  if (step.memory) ready = memory_access(warp, op, step, now);
  const std::uint32_t* written = w.registers + op.first_register + op.reads;
  for (std::uint32_t i = 0; i < op.writes; ++i) w.ready[written[i]] = short_time(ready);
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.slots == 1;
  prepare(warp, now, turns ? now + op.latency : now + (second ? 0 : 1));
  if (op.kind == TimedKind::barrier || step.exited) wake_barrier(r, now);
}

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
  if ((asleep & ~s.fetching) != 0) return to(asleep & ~s.fetching, Stall::dependency);
  if (asleep != 0) return to(asleep, Stall::fetch);
  if (s.barrier != 0) return to(s.barrier, Stall::barrier);
  if (s.ready != 0) return to(s.ready, Stall::quota);
}

// Warps of kernels whose quota is spent.
WarpMask Sm::gated(const Scheduler& s) const {
  WarpMask mask = 0;
  for (std::uint32_t m = quotas_spent_; m != 0; m &= m - 1)
    mask |= s.kernels[static_cast<std::size_t>(std::countr_zero(m))];
  return mask;
}

std::uint64_t Sm::unit_free(const Scheduler& s, std::size_t unit) const {
  const std::uint64_t at = (sm_units_ >> unit & 1) != 0 ? sm_free_[unit] : s.free[unit];
  if (unit != kLoadStore) return at;
  return lsu_.blocked() ? kNeverCycle : std::max(at, lsu_.free_at());
}

WarpMask Sm::eligible(const Scheduler& s, std::uint64_t now) const {
  if (s.ready == 0) return 0;
  WarpMask mask = 0;
  for (std::uint32_t m = s.units; m != 0; m &= m - 1) {
    const auto unit = static_cast<std::size_t>(std::countr_zero(m));
    if ((s.ready & s.wants[unit]) != 0 && unit_free(s, unit) <= now) mask |= s.wants[unit];
  }
  mask &= s.ready;
  return quotas_spent_ == 0 ? mask : mask & ~gated(s);
}

// When the load/store unit takes another instruction, as far as all schedulers are concerned.
std::uint64_t Sm::lsu_open() const {
  if (lsu_.blocked()) return kNeverCycle;
  return (sm_units_ >> kLoadStore & 1) != 0 ? std::max(sm_free_[kLoadStore], lsu_.free_at()) : lsu_.free_at();
}

// When a warp has its operands and its unit is free; warps that wake before that need not be looked at.
void Sm::set_due(Scheduler& s, std::uint32_t number, std::uint64_t now) {
  const WarpMask open = quotas_spent_ == 0 ? s.ready : s.ready & ~gated(s);
  const auto from = [&](std::size_t unit) {
    const std::uint64_t at = (open & s.wants[unit]) != 0 ? now + 1 : s.wheel.first(unit);
    return std::max(at, (sm_units_ >> unit & 1) != 0 ? sm_free_[unit] : s.free[unit]);
  };
  std::uint64_t due = kNeverCycle;
  for (std::uint32_t m = s.units & ~(1U << kLoadStore); m != 0 && due > now + 1; m &= m - 1)
    due = std::min(due, from(static_cast<std::size_t>(std::countr_zero(m))));
  due_[number] = std::max(due, s.port);
  lsu_due_[number] = (s.units >> kLoadStore & 1) != 0 ? std::max(from(kLoadStore), s.port) : kNeverCycle;
}

// One cycle of a scheduler.
void Sm::tick(std::uint32_t number, std::uint64_t now) {
  Scheduler& s = schedulers_[number];
  account(s, now);
  if (s.wheel.first() == now) wake_first(s);
  if (s.port <= now) {
    WarpMask candidates = eligible(s, now);
    for (std::uint32_t issued = 0; candidates != 0;) {
      const std::uint32_t index = pick(s, candidates);
      s.last = index;
      issue(s, slot_of(number, index), now);
      s.now = now + 1;
      if (++issued == issue_width_ || s.port > now + 1) break;
      // A second instruction comes from the same warp, if it is ready for one.
      candidates = eligible(s, now) & (WarpMask{1} << index);
    }
  }
  set_due(s, number, now);
  if (greedy_ && kernels_ == 1) go_on(s, number);
}

// A warp's issue of `op`, which it has executed, and what is to be found out about the instruction behind it, touch
// nothing but the warp and its scheduler.
bool Sm::concerns_nobody(const WarpSlot& w, const TimedOp& op) const {
  if (!w.ahead->has_second() || op.unit == gpu::Unit::load_store ||
      (sm_units_ >> static_cast<std::size_t>(op.unit) & 1) != 0)
    return false;
  const TimedOp& behind = w.ops[w.ahead->second().pc];
  return !behind.folded && behind.line == op.line;
}

// Until then nothing that happens elsewhere makes a warp of `s` ready: replies, blocks that begin (also in place of one
// that ends from now on), barriers that complete from now on.
std::uint64_t Sm::alone_until(const Scheduler& s) const {
  std::uint64_t until = std::min(until_, starts_);
  if (inbox_head_ < inbox_.size()) until = std::min(until, inbox_[inbox_head_].time);
  if (!offers_.empty()) until = std::min(until, next_ + follows_after());
  if (s.barrier != 0) until = std::min(until, next_ + barrier_release(1));
  return until;
}

// When a warp of `s` may issue to another unit than `unit`, at the earliest.
std::uint64_t Sm::others_due(Scheduler& s, std::uint32_t number, gpu::Unit unit, std::uint64_t now) const {
  std::uint64_t due = std::max(lsu_due_[number], lsu_open());
  for (std::uint32_t m = s.units & ~(1U << kLoadStore | 1U << static_cast<std::size_t>(unit)); m != 0; m &= m - 1) {
    const auto other = static_cast<std::size_t>(std::countr_zero(m));
    const std::uint64_t at = (s.ready & s.wants[other]) != 0 ? now + 1 : s.wheel.first(other);
    due = std::min(due, std::max(at, unit_free(s, other)));
  }
  return due;
}

// A greedy scheduler stays with the warp that issued last whenever that can issue, whatever the others do: as long as
// what it does concerns nobody else it is done at once, ahead of the other schedulers' time.
void Sm::go_on(Scheduler& s, std::uint32_t number) {
  if (s.last >= 64) return;
  const std::uint32_t warp = slot_of(number, s.last);
  WarpSlot& w = warps_[warp];
  if (w.unit == gpu::Unit::load_store || quota_[w.kernel] != std::numeric_limits<std::int64_t>::max()) return;
  const std::uint64_t end = alone_until(s);
  for (std::uint64_t at = due_[number]; at < end; at = due_[number]) {
    if (w.state != State::waiting || w.due > at || !concerns_nobody(w, *w.next)) return;
    if (s.free[static_cast<std::size_t>(w.unit)] > at || std::max(lsu_due_[number], lsu_open()) < at) return;
    account(s, at);
    if (s.wheel.first() == at) wake_first(s);
    s.ready &= ~w.bit;
    if (w.next->plain)
      at = issue_run(s, warp, at, end);
    else
      issue_executed(s, warp, *w.next, at);
    s.now = at + 1;
    set_due(s, number, at);
  }
}

// Issues the warp's next instruction at `at` and those behind it that follow as soon as their unit takes them, before
// any other warp has its chance. Returns when the last one issued.
std::uint64_t Sm::issue_run(Scheduler& s, std::uint32_t warp, std::uint64_t at, std::uint64_t end) {
  WarpSlot& w = warps_[warp];
  const std::uint64_t others = others_due(s, w.scheduler, w.unit, at);
  const TimedOp* op = w.next;
  std::uint64_t stalled = 0;
  while (true) {
    count(w, *op, w.ahead->front().lanes, true);
    w.ahead->pop();
    const std::uint32_t* written = w.registers + op->first_register + op->reads;
    for (std::uint32_t i = 0; i < op->writes; ++i) w.ready[written[i]] = short_time(at + op->latency);
    const std::uint64_t then = at + std::max<std::uint64_t>(op->occupies, op->slots);
    if (then >= end || (op->occupies > op->slots && then > others)) break;
    const TimedOp& next = w.ops[w.ahead->front().pc];
    if (!next.plain || next.unit != op->unit || !concerns_nobody(w, next) || last_operand(w, next) > at + 1) break;
    stalled += then - at - 1;
    op = &next;
    at = then;
  }
  counters_[w.kernel].stalls[static_cast<std::size_t>(Stall::unit)] += stalled;
  s.now = at;
  account(s, at);  // whoever woke meanwhile is awake
  if (s.wheel.first() == at) wake_first(s);
  take_unit(s, *op, at);
  prepare_next(warp, at, at + 1);
  return at;
}

// Warps whose time has come; those that the wheel's reach woke too early sleep on.
void Sm::wake_first(Scheduler& s) {
  const std::uint64_t now = s.wheel.first();
  WarpMask woken = s.wheel.take();
  for (WarpMask m = woken & s.far; m != 0; m &= m - 1) {
    const auto index = static_cast<std::uint32_t>(std::countr_zero(m));
    WarpSlot& w = warps_[slot_of(static_cast<std::uint32_t>(&s - schedulers_.data()), index)];
    if (w.due <= now) continue;
    woken &= ~w.bit;
    sleep(s, w, now);
  }
  s.ready |= woken;
}

// When an SM next has something to do: a scheduler that is due, a reply that has come, a block that starts.
std::uint64_t Sm::earliest() const {
  std::uint64_t next = std::min(starts_, inbox_head_ < inbox_.size() ? inbox_[inbox_head_].time : kNeverCycle);
  for (const std::uint64_t due : due_) next = std::min(next, due);
  std::uint64_t lsu = kNeverCycle;
  for (const std::uint64_t due : lsu_due_) lsu = std::min(lsu, due);
  return lsu < next ? std::min(next, std::max(lsu, lsu_open())) : next;
}

// By the clock; but where the load/store unit takes several cycles for an access it falls free in step with the clock,
// always for the same scheduler, so that turns follow no short period there.
std::uint32_t Sm::first_at(std::uint64_t now) const {
  if (config_.l1.lookups_per_cycle == 1) return static_cast<std::uint32_t>(now % schedulers_count_);
  return static_cast<std::uint32_t>((now * 0x9e3779b97f4a7c15ULL >> 32) * schedulers_count_ >> 32);
}

void Sm::run_until(std::uint64_t begin, std::uint64_t until) {
  until_ = until;
  for (next_ = std::max(earliest(), begin); next_ < until; next_ = std::max(earliest(), next_ + 1)) {
    if (starts_ <= next_) begin_blocks(next_);
    if (inbox_head_ < inbox_.size() && inbox_[inbox_head_].time <= next_) deliver(next_);
    // They take turns at being first, so that none has the SM's common units to itself.
    std::uint32_t i = first_at(next_);
    for (std::uint32_t n = schedulers_count_; n != 0; --n, i = i + 1 < schedulers_count_ ? i + 1 : 0)
      if (due_[i] <= next_ || (lsu_due_[i] <= next_ && lsu_open() <= next_)) tick(i, next_);
  }
}

}  // namespace wm::sim
