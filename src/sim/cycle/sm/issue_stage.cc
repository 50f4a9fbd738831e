// All of the loop is in one file, so that the compiler can inline it.
#include "sim/cycle/sm/issue_stage.h"

#include <algorithm>
#include <bit>

namespace wm::sim {

IssueStage::IssueStage(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm, IssueEvents& events)
    : config_(config),
      events_(events),
      issue_width_(config.sm.issue_width),
      warps_(config.sm.warps(), config.sm.schedulers),
      scoreboard_(config.sm.warps()),
      memory_(config, timing, sm),
      icache_(tag_spec(config.icache.bytes, config.icache.line, config.icache.ways, config.icache.replacement)) {
  const AnyWarpScheduler order = make_warp_scheduler(config.sm.warp_scheduler);
  greedy_ = is_greedy(order) && issue_width_ == 1;
  for (SchedulerState& s : schedulers_) s.order = order;
  for (std::uint32_t i = 0; i < warps_.size(); ++i) {
    schedulers_[warps_[i].scheduler].wants[0] |= warps_[i].bit;
    schedulers_[warps_[i].scheduler].units = 1;
  }
  for (std::size_t u = 0; u < gpu::kUnits; ++u)
    if (config.sm.units[u].per_sm) sm_units_ |= 1U << u;
}

void IssueStage::add(WarpSlot& w, std::uint64_t at) {
  w.ready = scoreboard_.reset(warps_.number_of(w), w.resident->run->kernel.program->scoreboard_size());
  schedulers_[w.scheduler].add(warps_.index_of(w), w.kernel, at);
}

void IssueStage::remove(WarpSlot& w) {
  leave(w);
  schedulers_[w.scheduler].remove(w);
  warps_.release(w);
}

void IssueStage::end(WarpSlot& w, std::uint64_t now) {
  SchedulerState& s = schedulers_[w.scheduler];
  account(s, now);
  s.all &= ~w.bit;
  w.state = WarpState::done;
}

std::uint64_t IssueStage::barrier_release(std::size_t warps) const {
  const gpu::SmConfig& sm = config_.sm;
  const std::uint32_t latency = sm.units[static_cast<std::size_t>(gpu::Unit::branch)].latency;
  return (sm.barrier_latency != 0 ? sm.barrier_latency : latency) + sm.barrier_per_warp * warps;
}

// Warps that were held back may issue at once.
void IssueStage::set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now, bool resident) {
  charge_until(now);
  quota_.set(kernel, instructions);
  if (instructions <= 0 || !resident) return;
  wake_by(now);
  times_.all_no_later(now);
}

// Every executed instruction is counted, whether it took an issue slot or not: rates and goals count in the same way.
void IssueStage::spend_quota(std::uint8_t kernel, std::uint32_t lanes, std::uint64_t now) {
  if (!quota_.spend(kernel, lanes)) return;
  charge_until(now);
  quota_.close(kernel);
}

std::uint32_t IssueStage::idle_warps(std::uint8_t kernel) const {
  std::uint32_t warps = 0;
  for (std::uint32_t i = 0; i < warps_.schedulers(); ++i) {
    const SchedulerState& s = schedulers_[i];
    WarpMask ready = s.ready;
    // The warp that issued last is ready a cycle early (prepare_next).
    if (s.last < kMaxWarps && warps_.of(i, s.last).due >= s.now) ready &= ~(WarpMask{1} << s.last);
    warps += static_cast<std::uint32_t>(std::popcount(ready & s.kernels[kernel]));
  }
  return warps;
}

void IssueStage::take_unit(SchedulerState& s, const TimedOp& op, std::uint64_t now) {
  const auto unit = static_cast<std::size_t>(op.unit);
  const std::uint64_t until = now + op.occupies;
  s.port = now + op.issue_slots;
  if ((sm_units_ >> unit & 1) == 0) {
    s.free[unit] = until;
  } else if (unit == kLoadStore) {
    lsu_taken_ = until;
  } else {
    for (SchedulerState& other : schedulers_) other.free[unit] = until;
  }
}

std::uint64_t IssueStage::fetch(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
  if (op.line == w.line) return now;
  w.line = op.line;
  const LineAddress address = (std::uint64_t{w.kernel} << 48) | op.line;
  if (icache_.lookup(address, 1) != 0) return now;
  icache_.fill(address, 1, false);
  return now + config_.icache.miss_latency;
}

// Executes an operation that takes no issue slot. False: it faults, and is issued like any other so that the fault is
// reported.
bool IssueStage::fold(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
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
  counters_.count(w.kernel, static_cast<std::uint32_t>(&op - w.ops), lanes, false);
  spend(w.kernel, lanes, now);
  return true;
}

void IssueStage::prepare(WarpSlot& w, std::uint64_t now, std::uint64_t not_before) {
  SchedulerState& s = schedulers_[w.scheduler];
  while (true) {
    // The result of an atomic comes later than its issue: until then operations are not executed ahead.
    if (!w.executed() && w.atomics == 0) {
      w.ahead->refill(*w.warp, config_.shared.banks);
      w.front = w.ahead->begin();
      w.back = w.ahead->end();
    }
    if (!w.executed() && !w.warp->ready()) {
      if (w.warp->done()) return events_.on_warp_exited(w, now);
      w.state = WarpState::barrier;
      s.barrier |= w.bit;
      ++w.resident->at_barrier;
      return;
    }
    const TimedOp& op = w.ops[w.executed() ? w.front->pc : w.warp->next_pc()];
    w.next = &op;
    const std::uint64_t fetched = fetch(w, op, now);
    std::uint64_t at = std::max(not_before, fetched);
    const Scoreboard::Time latest = w.last_operand(op);
    const auto waits = [&] { return op.copies == CopyRole::none ? w.loads != 0 : w.copies.must_wait(op, at); };
    if (latest == Scoreboard::kUnknown || (op.waits_for_loads && waits())) {
      w.state = WarpState::memory;
      s.memory |= w.bit;
      return;
    }
    at = std::max(at, scoreboard_.cycle(latest));
    // A folded operation of a closed kernel waits like any other.
    if (op.folded && !quota_.is_closed(w.kernel) && fold(w, op, now)) {
      w.set_written(op, at > not_before ? scoreboard_.time(at) : 0);
      continue;
    }
    w.state = WarpState::waiting;
    w.due = at;
    s.want(w, op.unit);
    if (at > now) {
      s.fetching = fetched == at ? s.fetching | w.bit : s.fetching & ~w.bit;
      times_.no_later(w.scheduler, static_cast<std::size_t>(op.unit), s.sleep(w, now));
      return;
    }
    s.ready |= w.bit;
    times_.no_later(w.scheduler, static_cast<std::size_t>(op.unit), now);
    return;
  }
}

// The same after an issue at `now`, with a fast path for the common case. The scheduler does not examine its warps
// again in that cycle, so a warp that can issue in the next one need not sleep. (With issue_width 2 it does.)
void IssueStage::prepare_next(SchedulerState& s, WarpSlot& w, std::uint64_t now, std::uint64_t not_before) {
  if (!w.executed() || issue_width_ != 1) return prepare(w, now, not_before);
  const TimedOp& op = w.ops[w.front->pc];
  if (!op.direct || op.line != w.line) return prepare(w, now, not_before);
  const Scoreboard::Time latest = w.last_operand(op);
  if (latest == Scoreboard::kUnknown) return prepare(w, now, not_before);
  w.next = &op;
  w.due = std::max(not_before, scoreboard_.cycle(latest));
  s.want(w, op.unit);
  if (w.due == now + 1) {
    s.ready |= w.bit;
    return;
  }
  s.fetching &= ~w.bit;
  s.sleep(w, now);
}

// Issues an operation that was executed ahead: only its time is simulated now.
void IssueStage::issue_executed(SchedulerState& s, WarpSlot& w, std::uint64_t now) {
  const TimedOp& op = *w.next;
  const exec::Executed executed = *w.front++;
  counters_.count(w.kernel, executed.pc, executed.lanes, true);
  spend(w.kernel, executed.lanes, now);
  std::uint64_t ready = now + op.latency;
  if (executed.note != 0) {
    const auto note = std::bit_cast<SharedNote>(executed.note);
    SmCounters& c = counters_[w.kernel];
    c.shared_lanes += note.words;
    c.shared_conflict_cycles += note.cycles - 1U;
    ready = memory_.lsu().shared(note.cycles, now).ready;
  }
  take_unit(s, op, now);
  if (executed.note != 0 || op.unit == gpu::Unit::load_store) refresh_lsu();
  if (op.simple) {
    w.ready[op.written] = scoreboard_.known(ready);
    return prepare_next(s, w, now, now + (issue_width_ > 1 ? 0 : 1));
  }
  if (op.copies == CopyRole::commit) w.copies.commit(now);
  w.set_written(op, scoreboard_.time(ready));
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.issue_slots == 1;
  prepare_next(s, w, now, turns ? ready : now + (second ? 0 : 1));
}

// Issues an operation that was not executed ahead: it is executed now.
void IssueStage::issue_now(SchedulerState& s, WarpSlot& w, std::uint64_t now) {
  const TimedOp& op = *w.next;
  ResidentBlock& r = *w.resident;
  AtomicsInFlight& atomics = memory_.atomics();
  if (atomics.any() && (op.kind == TimedKind::load || op.kind == TimedKind::store) && atomics.conflicts(*w.warp)) {
    w.state = WarpState::memory;
    s.memory |= w.bit;
    atomics.wait(warps_.number_of(w));
    return;
  }
  exec::Step step;
  r.run->block.clock = now;
  w.warp->step(step);
  const auto lanes = static_cast<std::uint32_t>(std::popcount(step.active));
  counters_.count(w.kernel, static_cast<std::uint32_t>(&op - w.ops), lanes, true);
  take_unit(s, op, now);
  refresh_lsu();
  spend(w.kernel, lanes, now);
  if (r.run->block.fault()) return events_.on_fault(r);
  if (op.copies == CopyRole::commit) w.copies.commit(now);

  std::uint64_t ready = now + op.latency;
  if (step.memory) {
    ready = memory_.access(w, warps_.number_of(w), op, step, now, counters_[w.kernel]);
    refresh_lsu();
  }
  w.set_written(op, scoreboard_.time(ready));
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.issue_slots == 1;
  prepare(w, now, turns ? now + op.latency : now + (second ? 0 : 1));
  if (op.kind == TimedKind::barrier || step.exited) events_.on_barrier(r, now);
}

void IssueStage::issue(SchedulerState& s, WarpSlot& w, std::uint64_t now) {
  s.ready &= ~w.bit;
  if (w.executed()) return issue_executed(s, w, now);
  issue_now(s, w, now);
}

// Attributes `cycles` without an issue to the first of these reasons that holds for any warp, and to the kernel of that
// warp.
void IssueStage::charge(SchedulerState& s, std::uint64_t cycles) {
  const WarpMask closed = quota_.closed() == 0 ? 0 : s.warps_of(quota_.closed());
  const WarpMask open = s.ready & ~closed;
  const WarpMask asleep = s.all & ~(s.ready | s.memory | s.barrier);
  const auto to = [&](WarpMask warps, Stall why) {
    counters_[s.kernel[WarpChoice::first(warps)]].stalls[static_cast<std::size_t>(why)] += cycles;
  };
  if (open != 0) return to(open, Stall::unit);
  if (s.memory != 0) return to(s.memory, Stall::memory);
  if ((asleep & ~s.fetching) != 0) return to(asleep & ~s.fetching, Stall::dependency);
  if (asleep != 0) return to(asleep, Stall::fetch);
  if (s.barrier != 0) return to(s.barrier, Stall::barrier);
  if (s.ready != 0) return to(s.ready, Stall::quota);
}

WarpMask IssueStage::eligible(const SchedulerState& s, std::uint64_t now) const {
  if (s.ready == 0) return 0;
  WarpMask mask = 0;
  for (std::uint32_t m = s.units; m != 0; m &= m - 1) {
    const auto unit = static_cast<std::size_t>(std::countr_zero(m));
    if (unit_free(s, unit) <= now) mask |= s.wants[unit];
  }
  mask &= s.ready;
  return quota_.closed() == 0 ? mask : mask & ~s.warps_of(quota_.closed());
}

// Sets the time at which a warp has its operands and its unit is free; warps that wake earlier need not be examined.
void IssueStage::set_due(SchedulerState& s, std::uint32_t number, std::uint64_t now) {
  const WarpMask open = quota_.closed() == 0 ? s.ready : s.ready & ~s.warps_of(quota_.closed());
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

// account(), and warps that wake at `now` are awake too. While all ready warps of one kernel wait only for a unit, the
// stall reason does not depend on which others wake.
void IssueStage::catch_up(SchedulerState& s, std::uint64_t now) {
  const bool one = kernels_ == 1 && quota_.closed() == 0;
  while (s.wheel.first() <= now) {
    if (!one || s.ready == 0) charge_cycles(s, s.wheel.first());
    wake_first(s);
  }
  charge_cycles(s, now);
}

// One cycle of a scheduler.
void IssueStage::tick(std::uint32_t number, std::uint64_t now) {
  SchedulerState& s = schedulers_[number];
  catch_up(s, now);
  if (!greedy_) {
    if (s.port <= now) issue_several(s, number, now);
    return set_due(s, number, now);
  }
  if (s.port > now) return set_due(s, number, now);
  WarpSlot* w = s.last < kMaxWarps ? &warps_.of(number, s.last) : nullptr;
  if (w == nullptr || (s.ready & w->bit) == 0 || quota_.closed() != 0 ||
      unit_free(s, static_cast<std::size_t>(w->unit)) > now) {
    const WarpMask candidates = eligible(s, now);
    if (candidates == 0) return set_due(s, number, now);
    s.last = s.pick(candidates);
    w = &warps_.of(number, s.last);
  }
  issue(s, *w, now);
  s.now = now + 1;
  set_due(s, number, now);
  if (w->unit != gpu::Unit::load_store && kernels_ == 1) go_on(s, *w, number);
}

// For schedulers that are not greedy, or issue several instructions in a cycle.
void IssueStage::issue_several(SchedulerState& s, std::uint32_t number, std::uint64_t now) {
  WarpMask candidates = eligible(s, now);
  for (std::uint32_t issued = 0; candidates != 0;) {
    const std::uint32_t index = s.pick(candidates);
    s.last = index;
    issue(s, warps_.of(number, index), now);
    s.now = now + 1;
    if (++issued == issue_width_ || s.port > now + 1) break;
    // A second instruction comes from the same warp, if it is ready for one.
    candidates = eligible(s, now) & (WarpMask{1} << index);
  }
}

// Whether issuing `op`, which the warp has executed, and preparing the next instruction affect only the warp and its
// scheduler.
bool IssueStage::is_local(const WarpSlot& w, const TimedOp& op) const {
  if (w.back - w.front < 2 || op.unit == gpu::Unit::load_store ||
      (sm_units_ >> static_cast<std::size_t>(op.unit) & 1) != 0)
    return false;
  const TimedOp& behind = w.ops[w.front[1].pc];
  return !behind.folded && behind.line == op.line;
}

// The time until which no event outside the scheduler makes a warp of `s` ready: replies, blocks that begin (also in
// place of one that ends from now on), barriers that complete from now on.
std::uint64_t IssueStage::undisturbed_until(const SchedulerState& s) const {
  std::uint64_t until = std::min({outside_.until, outside_.block_starts, outside_.reply_arrives});
  if (outside_.follows_after != kNever) until = std::min(until, now_ + outside_.follows_after);
  if (s.barrier != 0) until = std::min(until, now_ + barrier_release(1));
  return until;
}

// The earliest cycle at which a warp of `s` may issue to another unit than `unit`.
std::uint64_t IssueStage::others_due(SchedulerState& s, std::uint32_t number, gpu::Unit unit, std::uint64_t now) const {
  std::uint64_t due = times_.lsu_due(number);
  for (std::uint32_t m = s.units & ~(1U << kLoadStore | 1U << static_cast<std::size_t>(unit)); m != 0; m &= m - 1) {
    const auto other = static_cast<std::size_t>(std::countr_zero(m));
    const std::uint64_t at = (s.ready & s.wants[other]) != 0 ? now + 1 : s.wheel.first(other);
    due = std::min(due, std::max(at, unit_free(s, other)));
  }
  return due;
}

// A greedy scheduler stays with the warp that issued last whenever that can issue, independently of the others. As long
// as the warp's instructions are local they are issued at once, ahead of the other schedulers' time.
void IssueStage::go_on(SchedulerState& s, WarpSlot& w, std::uint32_t number) {
  if (quota_.has_quota(w.kernel)) return;
  const std::uint64_t end = undisturbed_until(s);
  for (std::uint64_t at = times_.due(number); at < end; at = times_.due(number)) {
    if (w.state != WarpState::waiting || w.due > at || !is_local(w, *w.next)) return;
    if (s.free[static_cast<std::size_t>(w.unit)] > at || times_.lsu_due(number) < at) return;
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

// Issues the warp's next instruction at `at` and the following ones that issue as soon as their unit accepts them,
// before any other warp may issue. Returns the time of the last issue.
std::uint64_t IssueStage::issue_run(SchedulerState& s, WarpSlot& w, std::uint64_t at, std::uint64_t end) {
  const std::uint64_t start = at;
  std::uint64_t others = 0;  // time at which another warp may issue; computed when needed
  std::uint64_t* tallies = counters_.tallies(w.kernel);
  const exec::Executed* front = w.front;
  const TimedOp* op = w.next;
  std::uint64_t stalled = 0;
  std::uint64_t lanes = 0;
  while (true) {
    tallies[2 * std::size_t{front->pc} + 1] += KernelCounters::tally(front->lanes);
    lanes += front->lanes;
    ++front;
    if (op->writes <= 1)
      w.ready[op->written] = scoreboard_.known(at + op->latency);
    else
      w.set_written(*op, scoreboard_.known(at + op->latency));
    const std::uint64_t then = at + std::max<std::uint64_t>(op->occupies, op->issue_slots);
    if (then >= end) break;
    if (op->occupies > op->issue_slots) {
      if (others == 0) others = others_due(s, w.scheduler, w.unit, start);
      if (then > others) break;
    }
    if (w.back - front < 2) break;
    const TimedOp& next = w.ops[front->pc];
    const TimedOp& behind = w.ops[front[1].pc];
    if (!next.plain || next.unit != op->unit || behind.folded || behind.line != next.line) break;
    const Scoreboard::Time latest = w.last_operand(next);
    if (latest == Scoreboard::kUnknown || scoreboard_.cycle(latest) > at + 1) break;
    stalled += then - at - 1;
    op = &next;
    at = then;
  }
  w.front = front;
  counters_[w.kernel].thread_instructions += lanes;
  counters_[w.kernel].stalls[static_cast<std::size_t>(Stall::unit)] += stalled;
  s.now = at;
  catch_up(s, at);  // marks warps that woke meanwhile
  take_unit(s, *op, at);
  prepare_next(s, w, at, at + 1);
  return at;
}

// Warps that woke too early, at the wheel's maximum time, sleep again; returns the others.
WarpMask IssueStage::sleep_on(SchedulerState& s, WarpMask woken, std::uint64_t now) {
  for (WarpMask m = woken & s.far; m != 0; m &= m - 1) {
    const WarpSlot& w = warps_.of(static_cast<std::uint32_t>(&s - schedulers_.data()), WarpChoice::first(m));
    if (w.due <= now) continue;
    woken &= ~w.bit;
    times_.no_later(w.scheduler, static_cast<std::size_t>(w.unit), s.sleep(w, now));
  }
  return woken;
}

// The scheduler that issues first in a cycle. If the load/store unit takes several cycles for an access, a rotation in
// step with the clock would always favour the same scheduler; in that case the order has no short period.
std::uint32_t IssueStage::first_scheduler(std::uint64_t now) const {
  const std::uint32_t count = warps_.schedulers();
  if (config_.l1.lookups_per_cycle == 1) return static_cast<std::uint32_t>(now % count);
  return static_cast<std::uint32_t>((now * 0x9e3779b97f4a7c15ULL >> 32) * count >> 32);
}

void IssueStage::run(std::uint64_t begin, std::uint64_t until) {
  const std::uint32_t count = warps_.schedulers();
  outside_.until = until;
  for (std::uint64_t from = begin;; from = now_ + 1) {
    now_ = std::max(std::min({times_.earliest(), outside_.block_starts, outside_.reply_arrives}), from);
    if (now_ >= until) return;
    if (std::min(outside_.block_starts, outside_.reply_arrives) <= now_) events_.on_arrival(now_);
    // Schedulers take turns at being first, so that none has the SM's common units to itself. Nothing that one does
    // makes another one due in the same cycle; but it may take the load/store unit.
    const std::uint32_t first = first_scheduler(now_);
    for (std::uint32_t m = times_.due_at(now_, first, count); m != 0; m &= m - 1) {
      std::uint32_t i = first + static_cast<std::uint32_t>(std::countr_zero(m));
      if (i >= count) i -= count;
      if (times_.still_due(i, now_)) tick(i, now_);
    }
  }
}

}  // namespace wm::sim
