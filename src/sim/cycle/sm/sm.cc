#include "sim/cycle/sm/sm.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace wm::sim {
namespace {

constexpr std::uint64_t kNeverCycle = ~std::uint64_t{0};
constexpr std::size_t kLoadStore = static_cast<std::size_t>(gpu::Unit::load_store);

TagSpec tags_of(std::uint32_t bytes, std::uint32_t line, std::uint32_t ways) {
  return {.sets = std::max(1U, bytes / line / ways), .ways = ways};
}

}  // namespace

Sm::Sm(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t index)
    : config_(config),
      schedulers_count_(config.sm.schedulers),
      lsu_(config, timing, index),
      icache_(tags_of(config.icache.bytes, config.icache.line, config.icache.ways)),
      instructions_per_line_(config.icache.line / config.icache.instruction_bytes),
      constant_cache_(tags_of(config.constant.bytes, config.constant.line, config.constant.ways)),
      schedulers_(config.sm.schedulers),
      warps_(config.sm.warps()),
      free_warps_(config.sm.warps()) {
  quota_.fill(std::numeric_limits<std::int64_t>::max());
}

// In order of arrival. Replies of earlier quanta may still be on their way; what was delivered is dropped here.
void Sm::sort_inbox() {
  if (inbox_head_ == inbox_.size()) {
    inbox_.clear();
    inbox_head_ = 0;
    return;
  }
  inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(inbox_head_));
  inbox_head_ = 0;
  std::sort(inbox_.begin(), inbox_.end(), [](const Message& a, const Message& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.line != b.line ? a.line < b.line : a.token < b.token;
  });
  next_ = std::min(next_, inbox_.front().time);
}

std::uint32_t Sm::move_context(MessageKind kind, std::uint64_t bytes, std::uint64_t place, std::uint8_t slot) {
  const std::uint32_t load = lsu_.move(kind, bytes, place, slot);
  if (load_info_.size() <= load) load_info_.resize(load + 1);
  load_info_[load] = {};
  return load;
}

void Sm::run(std::uint64_t begin, std::uint64_t until) {
  if (lsu_.moving()) lsu_.pump(begin, until - begin, counters_.data());
  while (next_ < until) {
    const std::uint64_t now = next_;
    charge_until(now);
    deliver(now);
    std::uint64_t next = kNeverCycle;
    for (std::uint32_t s = 0; s < schedulers_count_; ++s) next = std::min(next, tick(s, now));
    // A scheduler may have woken warps of one that had its turn before.
    for (const Scheduler& s : schedulers_) next = std::min(next, next_time(s, now));
    if (inbox_head_ < inbox_.size()) next = std::min(next, std::max(now + 1, inbox_[inbox_head_].time));
    next_ = next;
  }
}

// Replies that have come by now, and the loads they complete.
void Sm::deliver(std::uint64_t now) {
  if (inbox_head_ == inbox_.size() || inbox_[inbox_head_].time > now) return;
  while (inbox_head_ < inbox_.size() && inbox_[inbox_head_].time <= now) {
    done_loads_.clear();
    const std::uint64_t at = lsu_.replied(inbox_[inbox_head_++], done_loads_, counters_.data());
    for (const std::uint32_t load : done_loads_) finish_load(load, std::max(at, now));
  }
  if (lsu_.blocked()) {
    done_loads_.clear();
    lsu_.resume(now, counters_.data(), done_loads_);
    for (const std::uint32_t load : done_loads_) finish_load(load, now + config_.l1.latency);
  }
}

void Sm::finish_load(std::uint32_t load, std::uint64_t at) {
  const LoadInfo info = load_info_[load];
  lsu_.release(load);
  if (info.op == nullptr) {
    moved_.push_back(load);
    return;
  }
  WarpSlot& w = warps_[info.warp];
  Resident& r = *w.resident;
  --r.loads;
  --w.loads;
  for (const std::uint32_t reg : r.run->kernel.program->writes(*info.op)) w.ready[reg] = at;
  if (info.atomic != nullptr) {
    info.atomic->complete();
    track_atomic(*info.atomic, -1);
    port_.recycle(info.atomic);
    if (--atomics_ == 0 || !behind_.empty()) {
      for (const std::uint16_t waiting : std::exchange(behind_, {})) {
        if (warps_[waiting].state != State::memory) continue;
        leave(waiting);
        prepare(waiting, next_, next_);
      }
    }
  }
  if (r.stopping) {
    if (r.loads == 0) detach(r, stopped_, at);
    return;
  }
  if (w.state == State::memory) {
    leave(info.warp);
    prepare(info.warp, next_, next_);
  } else if (r.alive == 0) {
    end_block(r, at);
  }
}

// Warps of kernels whose quota is spent.
WarpMask Sm::gated(const Scheduler& s) const {
  WarpMask mask = 0;
  for (std::uint32_t m = quotas_spent_; m != 0; m &= m - 1)
    mask |= s.kernels[static_cast<std::size_t>(std::countr_zero(m))];
  return mask;
}

std::uint64_t Sm::unit_free(const Scheduler& s, std::size_t unit) const {
  std::uint64_t at = config_.sm.units[unit].per_sm ? sm_free_[unit] : s.free[unit];
  if (unit == kLoadStore) at = lsu_.blocked() ? kNeverCycle : std::max(at, lsu_.free_at());
  return at;
}

WarpMask Sm::eligible(const Scheduler& s, std::uint64_t now) const {
  WarpMask mask = 0;
  for (std::size_t u = 0; u < gpu::kUnits; ++u)
    if (s.ready[u] != 0 && unit_free(s, u) <= now) mask |= s.ready[u];
  return quotas_spent_ == 0 ? mask : mask & ~gated(s);
}

std::uint64_t Sm::next_time(const Scheduler& s, std::uint64_t now) const {
  std::uint64_t ready = kNeverCycle;
  const WarpMask closed = quotas_spent_ == 0 ? 0 : gated(s);
  for (std::size_t u = 0; u < gpu::kUnits; ++u)
    if ((s.ready[u] & ~closed) != 0) ready = std::min(ready, unit_free(s, u));
  if (ready != kNeverCycle) ready = std::max({ready, now + 1, s.port});
  return std::min(ready, s.wheel.next(now));
}

// One cycle of a scheduler; returns the next in which it may have something to do.
std::uint64_t Sm::tick(std::uint32_t number, std::uint64_t now) {
  Scheduler& s = schedulers_[number];
  if (s.all == 0) return kNeverCycle;
  for (WarpMask m = s.wheel.take(now); m != 0; m &= m - 1) {
    const std::uint32_t warp = slot_of(number, static_cast<std::uint32_t>(std::countr_zero(m)));
    WarpSlot& w = warps_[warp];
    if (w.due <= now)
      make_ready(warp);
    else
      w.wakes = s.wheel.sleep(bit_of(warp), w.due, now);
  }
  if (s.port > now) return next_time(s, now);
  WarpMask candidates = eligible(s, now);
  for (std::uint32_t issued = 0; candidates != 0;) {
    const std::uint32_t index = pick(s, number, candidates);
    s.last = index;
    issue(number, index, now);
    s.now = now + 1;
    if (++issued == config_.sm.issue_width || s.port > now + 1) break;
    // A second instruction comes from the same warp, if it is ready for one.
    candidates = eligible(s, now) & (WarpMask{1} << index);
  }
  return next_time(s, now);
}

void Sm::make_ready(std::uint32_t warp) {
  WarpSlot& w = warps_[warp];
  w.state = State::ready;
  scheduler_of(warp).ready[static_cast<std::size_t>(w.next->unit)] |= bit_of(warp);
}

// Takes a warp out of whatever list it is in.
void Sm::leave(std::uint32_t warp) {
  WarpSlot& w = warps_[warp];
  Scheduler& s = scheduler_of(warp);
  const WarpMask bit = bit_of(warp);
  switch (w.state) {
    case State::ready:
      s.ready[static_cast<std::size_t>(w.next->unit)] &= ~bit;
      break;
    case State::asleep:
      s.wheel.forget(bit, w.wakes);
      break;
    case State::memory:
      s.memory &= ~bit;
      break;
    case State::barrier:
      s.barrier &= ~bit;
      break;
    default:
      break;
  }
}

void Sm::count(const TimedOp& op, const exec::Step& step, SmCounters& c) const {
  const auto lanes = static_cast<std::uint64_t>(std::popcount(step.active));
  ++c.warp_instructions;
  c.thread_instructions += lanes;
  c.unit_lanes[static_cast<std::size_t>(op.unit)] += lanes * op.slots;
  c.register_lanes += lanes * (std::uint64_t{op.reads} + op.writes);
}

void Sm::issue(std::uint32_t number, std::uint32_t index, std::uint64_t now) {
  const std::uint32_t warp = slot_of(number, index);
  WarpSlot& w = warps_[warp];
  Scheduler& s = schedulers_[number];
  Resident& r = *w.resident;
  const TimedOp& op = *w.next;
  leave(warp);
  if (atomics_ != 0 && (op.kind == TimedKind::load || op.kind == TimedKind::store) && behind_atomic(w)) {
    w.state = State::memory;
    s.memory |= bit_of(warp);
    behind_.push_back(static_cast<std::uint16_t>(warp));
    return;
  }
  exec::Step step;
  r.run->block.clock = now;
  r.run->block.step(w.warp->index(), step);
  SmCounters& c = counters_[w.kernel];
  count(op, step, c);
  c.issued += op.slots;
  c.unit_cycles[static_cast<std::size_t>(op.unit)] += op.occupies;
  const auto unit = static_cast<std::size_t>(op.unit);
  (config_.sm.units[unit].per_sm ? sm_free_[unit] : s.free[unit]) = now + op.occupies;
  s.port = now + op.slots;
  spend(w.kernel, step.active);
  if (r.run->block.fault()) return raise(r);

  std::uint64_t ready = now + op.latency;
  if (step.memory) ready = memory_access(warp, op, step, now);
  for (const std::uint32_t reg : r.run->kernel.program->writes(op)) w.ready[reg] = ready;
  const bool turns = op.kind == TimedKind::branch;
  const bool second = config_.sm.issue_width > 1 && !turns && op.slots == 1;
  prepare(warp, now, turns ? now + op.latency : now + (second ? 0 : 1));
  if (op.kind == TimedKind::barrier || step.exited) wake_barrier(r, now);
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

std::uint64_t Sm::fetch(WarpSlot& w, std::uint32_t pc, std::uint64_t now) {
  const std::uint64_t line = pc / instructions_per_line_;
  if (line == w.line) return now;
  w.line = line;
  const LineAddress address = (std::uint64_t{w.kernel} << 48) | line;
  if (icache_.lookup(address, 1) != 0) return now;
  icache_.fill(address, 1, false);
  return now + config_.icache.miss_latency;
}

// Finds when the warp's next instruction can issue, executing what is folded on the way.
void Sm::prepare(std::uint32_t warp, std::uint64_t now, std::uint64_t not_before) {
  WarpSlot& w = warps_[warp];
  Scheduler& s = scheduler_of(warp);
  const TimedProgram& program = *w.resident->run->kernel.program;
  while (true) {
    if (!w.warp->ready()) {
      if (w.warp->done()) return warp_ended(warp, now);
      w.state = State::barrier;
      s.barrier |= bit_of(warp);
      ++w.resident->stuck;
      return;
    }
    const std::uint32_t pc = w.warp->next_pc();
    const TimedOp& op = program.ops[pc];
    w.next = &op;
    std::uint64_t at = std::max(not_before, fetch(w, pc, now));
    bool pending = op.leaves_call && w.loads != 0;
    for (const std::uint32_t reg : program.operands(op)) {
      const std::uint64_t ready = w.ready[reg];
      pending |= ready == kPending;
      at = std::max(at, ready);
    }
    if (pending) {
      w.state = State::memory;
      s.memory |= bit_of(warp);
      return;
    }
    if (op.folded && (quotas_spent_ >> w.kernel & 1) == 0) {  // without a quota it waits like any other
      exec::Step step;
      w.resident->run->block.step(w.warp->index(), step);
      count(op, step, counters_[w.kernel]);
      spend(w.kernel, step.active);
      for (const std::uint32_t reg : program.writes(op)) w.ready[reg] = at > not_before ? at : 0;
      continue;
    }
    if (at <= now) return make_ready(warp);
    w.state = State::asleep;
    w.due = at;
    w.wakes = s.wheel.sleep(bit_of(warp), at, now);
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
  const bool returns = op.writes != 0 || atomic != nullptr;
  const Lsu::Issued issued = lsu_.access(kind, coalesced_, w.kernel, returns, now, c, atomic);
  if (issued.load == kNoLoad) return issued.ready;
  if (load_info_.size() <= issued.load) load_info_.resize(issued.load + 1);
  load_info_[issued.load] = {static_cast<std::uint16_t>(warp), &op, atomic};
  ++w.resident->loads;
  ++w.loads;
  if (atomic != nullptr) {
    ++atomics_;
    track_atomic(*atomic, 1);
  }
  return kPending;
}

}  // namespace wm::sim
