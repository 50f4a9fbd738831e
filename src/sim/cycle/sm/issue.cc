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

void Ahead::refill(exec::Warp& warp, std::uint32_t banks) {
  const auto note = [](const exec::Access& a, std::uint32_t count) {
    return std::bit_cast<std::uint32_t>(
        SharedNote{static_cast<std::uint16_t>(shared_cycles(a, count)),
                   static_cast<std::uint16_t>(std::popcount(a.lanes) * std::max(1, a.bytes / 4))});
  };
  head_ = 0;
  count_ = static_cast<std::uint16_t>(warp.run_ahead(ops_.data(), kMaxOps, {note, banks}));
}

void Sm::take_unit(Scheduler& s, const TimedOp& op, std::uint64_t now) {
  const auto unit = static_cast<std::size_t>(op.unit);
  const std::uint64_t until = now + op.occupies;
  s.port = now + op.slots;
  if ((sm_units_ >> unit & 1) == 0) {
    s.free[unit] = until;
  } else if (unit == kLoadStore) {
    lsu_taken_ = until;
  } else {
    for (Scheduler& other : schedulers_) other.free[unit] = until;
  }
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

// When all that `op` reads and writes can be used, since epoch_.
std::uint32_t Sm::last_operand(const WarpSlot& w, const TimedOp& op) {
  std::uint32_t latest = 0;
  for (const std::uint32_t operand : op.operands) latest = std::max(latest, w.ready[operand]);
  if (op.few) return latest;
  const std::uint32_t count = std::uint32_t{op.reads} + op.writes;
  const std::uint32_t* operands = w.registers + op.first_register;
  for (std::uint32_t i = TimedOp::kFew; i < count; ++i) latest = std::max(latest, w.ready[operands[i]]);
  return latest;
}

// Executes what takes no issue slot; false: it faults, and is issued like any other so that somebody sees it.
bool Sm::fold(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
  std::uint32_t lanes = 0;
  if (!w.executed()) {
    exec::Step step;
    w.warp->step(step);
    if (w.resident->run->block.fault()) return false;
    lanes = static_cast<std::uint32_t>(std::popcount(step.active));
  } else {
    lanes = w.front->lanes;
    ++w.front;
  }
  count(w, static_cast<std::uint32_t>(&op - w.ops), lanes, false);
  spend(w.kernel, lanes, now);
  return true;
}

// Finds when the warp's next instruction can issue, executing what is folded on the way.
void Sm::prepare(WarpSlot& w, std::uint64_t now, std::uint64_t not_before) {
  Scheduler& s = schedulers_[w.scheduler];
  while (true) {
    // An atomic's result comes later than its issue: until then operations wait for their time.
    if (!w.executed() && w.atomics == 0) {
      w.ahead->refill(*w.warp, config_.shared.banks);
      w.front = w.ahead->begin();
      w.back = w.ahead->end();
    }
    if (!w.executed() && !w.warp->ready()) {
      if (w.warp->done()) return warp_ended(w, now);
      w.state = State::barrier;
      s.barrier |= w.bit;
      ++w.resident->stuck;
      return;
    }
    const TimedOp& op = w.ops[w.executed() ? w.front->pc : w.warp->next_pc()];
    w.next = &op;
    const std::uint64_t fetched = fetch(w, op, now);
    std::uint64_t at = std::max(not_before, fetched);
    const std::uint32_t latest = last_operand(w, op);
    if (latest == kUnknown || (op.waits_for_loads && waits(w, op, at))) {
      w.state = State::memory;
      s.memory |= w.bit;
      return;
    }
    at = std::max(at, epoch_ + latest);
    // Without a quota what is folded waits like any other.
    if (op.folded && (quotas_spent_ >> w.kernel & 1) == 0 && fold(w, op, now)) {
      set_written(w, op, at > not_before ? short_time(at) : 0);
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

// The same behind an issue at `now`, in the usual case at once. Nobody looks at the scheduler's warps again in that
// cycle: one that can issue in the next need not sleep until then. (Where several issue in a cycle somebody does.)
void Sm::prepare_next(Scheduler& s, WarpSlot& w, std::uint64_t now, std::uint64_t not_before) {
  if (!w.executed() || issue_width_ != 1) return prepare(w, now, not_before);
  const TimedOp& op = w.ops[w.front->pc];
  if (!op.direct || op.line != w.line) return prepare(w, now, not_before);
  const std::uint32_t latest = last_operand(w, op);
  if (latest == kUnknown) return prepare(w, now, not_before);
  w.next = &op;
  w.due = std::max(not_before, epoch_ + latest);
  want(s, w, op.unit);
  if (w.due == now + 1) {
    s.ready |= w.bit;
    return;
  }
  s.fetching &= ~w.bit;
  const std::uint64_t wakes = s.wheel.sleep(w.bit, static_cast<std::size_t>(op.unit), w.due, now);
  s.far = wakes == w.due ? s.far & ~w.bit : s.far | w.bit;
}

// What was executed ahead only takes its time now.
void Sm::issue_executed(Scheduler& s, WarpSlot& w, std::uint64_t now) {
  const TimedOp& op = *w.next;
  const exec::Executed executed = *w.front++;
  count(w, executed.pc, executed.lanes, true);
  spend(w.kernel, executed.lanes, now);
  std::uint64_t ready = now + op.latency;
  if (executed.note != 0) {
    const auto note = std::bit_cast<SharedNote>(executed.note);
    SmCounters& c = counters_[w.kernel];
    c.shared_lanes += note.words;
    c.shared_conflict_cycles += note.cycles - 1U;
    ready = lsu_.shared(note.cycles, now).ready;
  }
  take_unit(s, op, now);
  if (executed.note != 0 || op.unit == gpu::Unit::load_store) look_at_lsu();
  if (op.simple) {
    w.ready[op.written] = known_time(ready);
    return prepare_next(s, w, now, now + (issue_width_ > 1 ? 0 : 1));
  }
  if (op.copies == CopyRole::commit) commit_copies(w, now);
  set_written(w, op, short_time(ready));
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.slots == 1;
  prepare_next(s, w, now, turns ? ready : now + (second ? 0 : 1));
}

// What was not is executed now.
void Sm::issue_now(Scheduler& s, WarpSlot& w, std::uint64_t now) {
  const TimedOp& op = *w.next;
  Resident& r = *w.resident;
  if (atomics_ != 0 && (op.kind == TimedKind::load || op.kind == TimedKind::store) && behind_atomic(w)) {
    w.state = State::memory;
    s.memory |= w.bit;
    behind_.push_back(static_cast<std::uint16_t>(number_of(w)));
    return;
  }
  exec::Step step;
  r.run->block.clock = now;
  w.warp->step(step);
  const auto lanes = static_cast<std::uint32_t>(std::popcount(step.active));
  count(w, static_cast<std::uint32_t>(&op - w.ops), lanes, true);
  take_unit(s, op, now);
  look_at_lsu();
  spend(w.kernel, lanes, now);
  if (r.run->block.fault()) return raise(r);
  if (op.copies == CopyRole::commit) commit_copies(w, now);

  std::uint64_t ready = now + op.latency;
  if (step.memory) {
    ready = memory_access(w, op, step, now);
    look_at_lsu();
  }
  set_written(w, op, short_time(ready));
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.slots == 1;
  prepare(w, now, turns ? now + op.latency : now + (second ? 0 : 1));
  if (op.kind == TimedKind::barrier || step.exited) wake_barrier(r, now);
}

void Sm::issue(Scheduler& s, WarpSlot& w, std::uint64_t now) {
  s.ready &= ~w.bit;
  if (w.executed()) return issue_executed(s, w, now);
  issue_now(s, w, now);
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

WarpMask Sm::eligible(const Scheduler& s, std::uint64_t now) const {
  if (s.ready == 0) return 0;
  WarpMask mask = 0;
  for (std::uint32_t m = s.units; m != 0; m &= m - 1) {
    const auto unit = static_cast<std::size_t>(std::countr_zero(m));
    if (unit_free(s, unit) <= now) mask |= s.wants[unit];
  }
  mask &= s.ready;
  return quotas_spent_ == 0 ? mask : mask & ~gated(s);
}

// When a warp has its operands and its unit is free; warps that wake before that need not be looked at.
void Sm::set_due(Scheduler& s, std::uint32_t number, std::uint64_t now) {
  const WarpMask open = quotas_spent_ == 0 ? s.ready : s.ready & ~gated(s);
  const auto from = [&](std::size_t unit) {
    const std::uint64_t at = (open & s.wants[unit]) != 0 ? now + 1 : s.wheel.first(unit);
    return std::max(at, s.free[unit]);
  };
  std::uint64_t due = kNeverCycle;
  for (std::uint32_t m = s.units & ~(1U << kLoadStore); m != 0 && due > now + 1; m &= m - 1)
    due = std::min(due, from(static_cast<std::size_t>(std::countr_zero(m))));
  due_[number] = std::max(due, s.port);
  lsu_due_[number] = (s.units >> kLoadStore & 1) != 0 ? std::max(from(kLoadStore), s.port) : kNeverCycle;
}

// account(), and whoever wakes at `now` is awake too. While warps of one kernel wait for nothing but a unit it does not
// matter to the account who else wakes.
void Sm::catch_up(Scheduler& s, std::uint64_t now) {
  const bool one = kernels_ == 1 && quotas_spent_ == 0;
  while (s.wheel.first() <= now) {
    if (!one || s.ready == 0) charge_cycles(s, s.wheel.first());
    wake_first(s);
  }
  charge_cycles(s, now);
}

// One cycle of a scheduler.
void Sm::tick(std::uint32_t number, std::uint64_t now) {
  Scheduler& s = schedulers_[number];
  catch_up(s, now);
  if (!greedy_) {
    if (s.port <= now) issue_several(s, number, now);
    return set_due(s, number, now);
  }
  if (s.port > now) return set_due(s, number, now);
  WarpSlot* w = s.last < 64 ? &warps_[slot_of(number, s.last)] : nullptr;
  if (w == nullptr || (s.ready & w->bit) == 0 || quotas_spent_ != 0 ||
      unit_free(s, static_cast<std::size_t>(w->unit)) > now) {
    const WarpMask candidates = eligible(s, now);
    if (candidates == 0) return set_due(s, number, now);
    s.last = pick(s, candidates);
    w = &warps_[slot_of(number, s.last)];
  }
  issue(s, *w, now);
  s.now = now + 1;
  set_due(s, number, now);
  if (w->unit != gpu::Unit::load_store && kernels_ == 1) go_on(s, *w, number);
}

// The schedulers that are not greedy, or issue several instructions in a cycle.
void Sm::issue_several(Scheduler& s, std::uint32_t number, std::uint64_t now) {
  WarpMask candidates = eligible(s, now);
  for (std::uint32_t issued = 0; candidates != 0;) {
    const std::uint32_t index = pick(s, candidates);
    s.last = index;
    issue(s, warps_[slot_of(number, index)], now);
    s.now = now + 1;
    if (++issued == issue_width_ || s.port > now + 1) break;
    // A second instruction comes from the same warp, if it is ready for one.
    candidates = eligible(s, now) & (WarpMask{1} << index);
  }
}

// A warp's issue of `op`, which it has executed, and what is to be found out about the instruction behind it, touch
// nothing but the warp and its scheduler.
bool Sm::concerns_nobody(const WarpSlot& w, const TimedOp& op) const {
  if (w.back - w.front < 2 || op.unit == gpu::Unit::load_store ||
      (sm_units_ >> static_cast<std::size_t>(op.unit) & 1) != 0)
    return false;
  const TimedOp& behind = w.ops[w.front[1].pc];
  return !behind.folded && behind.line == op.line;
}

// Until then nothing that happens elsewhere makes a warp of `s` ready: replies, blocks that begin (also in place of one
// that ends from now on), barriers that complete from now on.
std::uint64_t Sm::alone_until(const Scheduler& s) const {
  std::uint64_t until = std::min({until_, starts_, arrives_});
  if (!offers_.empty()) until = std::min(until, next_ + follows_after_);
  if (s.barrier != 0) until = std::min(until, next_ + barrier_release(1));
  return until;
}

// When a warp of `s` may issue to another unit than `unit`, at the earliest.
std::uint64_t Sm::others_due(Scheduler& s, std::uint32_t number, gpu::Unit unit, std::uint64_t now) const {
  std::uint64_t due = std::max(lsu_due_[number], lsu_open_);
  for (std::uint32_t m = s.units & ~(1U << kLoadStore | 1U << static_cast<std::size_t>(unit)); m != 0; m &= m - 1) {
    const auto other = static_cast<std::size_t>(std::countr_zero(m));
    const std::uint64_t at = (s.ready & s.wants[other]) != 0 ? now + 1 : s.wheel.first(other);
    due = std::min(due, std::max(at, unit_free(s, other)));
  }
  return due;
}

// A greedy scheduler stays with the warp that issued last whenever that can issue, whatever the others do: as long as
// what it does concerns nobody else it is done at once, ahead of the other schedulers' time.
void Sm::go_on(Scheduler& s, WarpSlot& w, std::uint32_t number) {
  if (quotas_ != 0 && quota_[w.kernel] != std::numeric_limits<std::int64_t>::max()) return;
  const std::uint64_t end = alone_until(s);
  for (std::uint64_t at = due_[number]; at < end; at = due_[number]) {
    if (w.state != State::waiting || w.due > at || !concerns_nobody(w, *w.next)) return;
    if (s.free[static_cast<std::size_t>(w.unit)] > at || std::max(lsu_due_[number], lsu_open_) < at) return;
    catch_up(s, at);
    s.ready &= ~w.bit;
    if (w.next->plain)
      at = issue_run(s, w, at, end);
    else
      issue_executed(s, w, at);
    s.now = at + 1;
    set_due(s, number, at);
  }
}

// Issues the warp's next instruction at `at` and those behind it that follow as soon as their unit takes them, before
// any other warp has its chance. Returns when the last one issued.
std::uint64_t Sm::issue_run(Scheduler& s, WarpSlot& w, std::uint64_t at, std::uint64_t end) {
  const std::uint64_t start = at;
  std::uint64_t others = 0;  // when they have their chance; asked for where it matters
  std::uint64_t* tally = tallies_[w.kernel].executed.data();
  const exec::Executed* front = w.front;
  const TimedOp* op = w.next;
  std::uint64_t stalled = 0;
  std::uint64_t lanes = 0;
  while (true) {
    tally[2 * std::size_t{front->pc} + 1] += std::uint64_t{1} << 32 | front->lanes;
    lanes += front->lanes;
    ++front;
    if (op->writes <= 1)
      w.ready[op->written] = known_time(at + op->latency);
    else
      set_written(w, *op, known_time(at + op->latency));
    const std::uint64_t then = at + std::max<std::uint64_t>(op->occupies, op->slots);
    if (then >= end) break;
    if (op->occupies > op->slots) {
      if (others == 0) others = others_due(s, w.scheduler, w.unit, start);
      if (then > others) break;
    }
    if (w.back - front < 2) break;
    const TimedOp& next = w.ops[front->pc];
    const TimedOp& behind = w.ops[front[1].pc];
    if (!next.plain || next.unit != op->unit || behind.folded || behind.line != next.line) break;
    const std::uint32_t latest = last_operand(w, next);
    if (latest == kUnknown || epoch_ + latest > at + 1) break;
    stalled += then - at - 1;
    op = &next;
    at = then;
  }
  w.front = front;
  counters_[w.kernel].thread_instructions += lanes;
  counters_[w.kernel].stalls[static_cast<std::size_t>(Stall::unit)] += stalled;
  s.now = at;
  catch_up(s, at);  // whoever woke meanwhile is awake
  take_unit(s, *op, at);
  prepare_next(s, w, at, at + 1);
  return at;
}

// Of warps that woke, those that the wheel's reach woke too early sleep on; the others are left.
WarpMask Sm::sleep_on(Scheduler& s, WarpMask woken, std::uint64_t now) {
  for (WarpMask m = woken & s.far; m != 0; m &= m - 1) {
    const auto index = static_cast<std::uint32_t>(std::countr_zero(m));
    WarpSlot& w = warps_[slot_of(static_cast<std::uint32_t>(&s - schedulers_.data()), index)];
    if (w.due <= now) continue;
    woken &= ~w.bit;
    sleep(s, w, now);
  }
  return woken;
}

// When an SM next has something to do: a scheduler that is due, a reply that has come, a block that starts.
std::uint64_t Sm::earliest() const {
  std::uint64_t next = std::min(starts_, arrives_);
  for (const std::uint64_t due : due_) next = std::min(next, due);
  std::uint64_t lsu = kNeverCycle;
  for (const std::uint64_t due : lsu_due_) lsu = std::min(lsu, due);
  return std::min(next, std::max(lsu, lsu_open_));
}

// By the clock; but where the load/store unit takes several cycles for an access it falls free in step with the clock,
// always for the same scheduler, so that turns follow no short period there.
std::uint32_t Sm::first_at(std::uint64_t now) const {
  if (config_.l1.lookups_per_cycle == 1) return static_cast<std::uint32_t>(now % schedulers_count_);
  return static_cast<std::uint32_t>((now * 0x9e3779b97f4a7c15ULL >> 32) * schedulers_count_ >> 32);
}

// The schedulers that have something to do at `now`, as bits from the one that looks first on.
std::uint32_t Sm::due_at(std::uint64_t now, std::uint32_t first) const {
  std::uint32_t due = 0;
  std::uint32_t lsu = 0;
  for (std::uint32_t i = 0; i < kMaxSchedulers; ++i) {
    due |= static_cast<std::uint32_t>(due_[i] <= now) << i;
    lsu |= static_cast<std::uint32_t>(lsu_due_[i] <= now) << i;
  }
  if (lsu_open_ <= now) due |= lsu;
  return ((due | due << schedulers_count_) >> first) & ((1U << schedulers_count_) - 1);
}

void Sm::run_until(std::uint64_t begin, std::uint64_t until) {
  until_ = until;
  for (std::uint64_t from = begin;; from = next_ + 1) {
    next_ = std::max(earliest(), from);
    if (next_ >= until) return;
    if (starts_ <= next_) begin_blocks(next_);
    if (arrives_ <= next_) deliver(next_);
    // They take turns at being first, so that none has the SM's common units to itself. Nothing that one does makes
    // another one due in the same cycle; but it may take the load/store unit.
    const std::uint32_t first = first_at(next_);
    for (std::uint32_t m = due_at(next_, first); m != 0; m &= m - 1) {
      std::uint32_t i = first + static_cast<std::uint32_t>(std::countr_zero(m));
      if (i >= schedulers_count_) i -= schedulers_count_;
      if (due_[i] <= next_ || lsu_open_ <= next_) tick(i, next_);
    }
  }
}

}  // namespace wm::sim
