// Instructions of a warp: when the next can issue, what its issue takes, and what its accesses cost.
#include <algorithm>
#include <bit>
#include <utility>

#include "sim/cycle/sm/sm.h"

namespace wm::sim {

bool Ahead::refill(exec::Warp& warp, std::uint32_t banks) {
  head_ = count_ = 0;
  for (bool accessed = true; accessed && count_ != kMost;) {
    count_ = static_cast<std::uint16_t>(count_ + warp.run_ahead(ops_.data() + count_, kMost - count_, accessed));
    const exec::Access& a = warp.access();
    if (!accessed || a.lanes == 0) continue;
    const SharedNote note{static_cast<std::uint16_t>(shared_cycles(a, banks)),
                          static_cast<std::uint16_t>(std::popcount(a.lanes) * std::max(1, a.bytes / 4))};
    ops_[count_ - 1U].note = std::bit_cast<std::uint32_t>(note);
  }
  return count_ != 0;
}

void Sm::begin_tally(std::uint8_t slot, const TimedProgram& program) {
  Tally& tally = tallies_[slot];
  if (tally.program == &program) return;
  count_tally(slot);
  tally.program = &program;
  tally.executed.assign(2 * program.ops.size(), 0);
}

void Sm::count_tally(std::uint8_t slot) {
  Tally& tally = tallies_[slot];
  SmCounters& c = counters_[slot];
  for (std::size_t i = 0; i < tally.executed.size(); ++i) {
    if (tally.executed[i] == 0) continue;
    const std::uint64_t times = tally.executed[i] >> 32;
    const std::uint64_t lanes = tally.executed[i] & 0xffffffffU;
    tally.executed[i] = 0;
    const TimedOp& op = tally.program->ops[i / 2];
    const auto unit = static_cast<std::size_t>(op.unit);
    c.warp_instructions += times;
    c.unit_lanes[unit] += lanes * op.slots;
    c.register_lanes += lanes * (std::uint32_t{op.reads} + op.writes);
    if (i % 2 == 0) continue;
    c.issued += times * op.slots;
    c.unit_cycles[unit] += times * op.occupies;
  }
}

void Sm::take_unit(Scheduler& s, const TimedOp& op, std::uint64_t now) {
  const auto unit = static_cast<std::size_t>(op.unit);
  ((sm_units_ >> unit & 1) != 0 ? sm_free_[unit] : s.free[unit]) = now + op.occupies;
  s.port = now + op.slots;
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
  for (std::uint32_t i = 0; i < op.writes; ++i) w.ready[written[i]] = ready;
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.slots == 1;
  prepare(warp, now, turns ? now + op.latency : now + (second ? 0 : 1));
  if (op.kind == TimedKind::barrier || step.exited) wake_barrier(r, now);
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
  for (std::uint32_t i = 0; i < op.writes; ++i) w.ready[written[i]] = ready;
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.slots == 1;
  prepare(warp, now, turns ? ready : now + (second ? 0 : 1));
}

void Sm::track_atomic(const exec::PendingAtomic& atomic, int by) {
  for (exec::Mask m = atomic.lanes; m != 0; m &= m - 1) {
    const std::uint64_t line = atomic.address[static_cast<std::size_t>(std::countr_zero(m))] / kLineBytes;
    auto& lanes = atomic_lines_[line * 0x9e3779b97f4a7c15ULL >> 56];
    lanes = static_cast<std::uint16_t>(lanes + by);
  }
}

bool Sm::behind_atomic(WarpSlot& w) {
  if (!w.warp->peek(peeked_) || peeked_.space == ptx::Space::shared || peeked_.space == ptx::Space::local) return false;
  for (exec::Mask m = peeked_.lanes; m != 0; m &= m - 1) {
    const std::uint64_t line = peeked_.address[static_cast<std::size_t>(std::countr_zero(m))] / kLineBytes;
    if (atomic_lines_[line * 0x9e3779b97f4a7c15ULL >> 56] != 0) return true;
  }
  return false;
}

std::uint64_t Sm::fetch(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
  if (op.line == w.line) return now;
  w.line = op.line;
  const LineAddress address = (std::uint64_t{w.kernel} << 48) | op.line;
  if (icache_.lookup(address, 1) != 0) return now;
  icache_.fill(address, 1, false);
  return now + config_.icache.miss_latency;
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

// Finds when the warp's next instruction can issue, executing what is folded on the way.
void Sm::prepare(std::uint32_t warp, std::uint64_t now, std::uint64_t not_before) {
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
    std::uint64_t at = std::max(not_before, fetch(w, op, now));
    std::uint64_t latest = 0;
    const std::uint32_t* operands = w.registers + op.first_register;
    for (std::uint32_t i = 0, n = std::uint32_t{op.reads} + op.writes; i < n; ++i)
      latest = std::max(latest, w.ready[operands[i]]);
    if (latest == kPending || (op.waits_for_loads && waits(w, op, at))) {
      w.state = State::memory;
      s.memory |= w.bit;
      return;
    }
    at = std::max(at, latest);
    // Without a quota what is folded waits like any other.
    if (op.folded && (quotas_spent_ >> w.kernel & 1) == 0 && fold(w, op, now)) {
      for (std::uint32_t i = 0; i < op.writes; ++i) w.ready[operands[op.reads + i]] = at > not_before ? at : 0;
      continue;
    }
    w.state = State::waiting;
    w.due = at;
    want(s, w, op.unit);
    if (at > now) return sleep(s, w, now);
    s.ready |= w.bit;
    due_from(w.scheduler, static_cast<std::size_t>(op.unit), now);
    return;
  }
}

std::uint64_t Sm::memory_access(std::uint32_t warp, const TimedOp& op, const exec::Step& step, std::uint64_t now) {
  WarpSlot& w = warps_[warp];
  SmCounters& c = counters_[w.kernel];
  const exec::Access& a = *step.access;
  if (op.kind == TimedKind::constant) {
    const LineAddress line = (std::uint64_t{w.kernel} << 48) |
                             a.address[static_cast<std::size_t>(std::countr_zero(a.lanes))] / config_.constant.line;
    if (constant_cache_.lookup(line, 1) != 0) return now + config_.constant.latency;
    constant_cache_.fill(line, 1, false);
    return now + config_.constant.miss_latency;
  }
  if (a.space == ptx::Space::shared) {
    const std::uint32_t cycles = shared_cycles(a, config_.shared.banks);
    c.shared_lanes += static_cast<std::uint64_t>(std::popcount(a.lanes)) * std::max(1, a.bytes / 4);
    c.shared_conflict_cycles += cycles - 1;
    return lsu_.shared(cycles, now).ready;
  }
  const MessageKind kind = op.kind == TimedKind::load    ? MessageKind::read
                           : op.kind == TimedKind::store ? MessageKind::write
                                                         : MessageKind::atomic;
  std::uint64_t space = w.resident->run->kernel.client << 56;
  if (a.space == ptx::Space::local) {
    // A thread's words lie 32 apart, so that lanes at the same offset share lines.
    exec::Access spread = a;
    const std::uint64_t base = (std::uint64_t{1} << 46) + (w.age << 20);
    for (std::size_t lane = 0; lane < exec::kLanes; ++lane)
      spread.address[lane] = base + a.address[lane] / 4 * kLineBytes + lane * 4 + a.address[lane] % 4;
    spread.bytes = std::min<std::uint8_t>(a.bytes, 4);
    coalesce(spread, space, coalesced_);
  } else {
    coalesce(a, space, coalesced_);
  }
  exec::PendingAtomic* atomic = kind == MessageKind::atomic ? port_.take_atomic() : nullptr;
  const bool copy = op.copies == CopyRole::copy;
  const std::uint32_t bank_cycles =
      config_.l1.lookups_per_cycle > 1 && coalesced_.count > 1 ? shared_cycles(a, config_.shared.banks) : 1;
  const Lsu::Issued issued = lsu_.access({.kind = kind,
                                          .kernel = w.kernel,
                                          .returns = op.writes != 0 || atomic != nullptr || copy,
                                          .read_only = op.read_only,
                                          .bank_cycles = bank_cycles,
                                          .atomic = atomic},
                                         coalesced_, now, c);
  const std::uint32_t group = copy ? issue_copy(w, issued) : 0;
  if (issued.load == kNoLoad) return issued.ready;
  if (load_info_.size() <= issued.load) load_info_.resize(issued.load + 1);
  load_info_[issued.load] = {static_cast<std::uint16_t>(warp), &op, atomic, group};
  ++w.resident->loads;
  ++w.loads;
  if (atomic != nullptr) {
    ++atomics_;
    if (atomic->destination != nullptr) ++w.atomics;
    track_atomic(*atomic, 1);
  }
  return kPending;
}

}  // namespace wm::sim
