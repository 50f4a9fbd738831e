#include "sim/cycle/sm/warp_issue.h"

namespace wm::sim {
namespace {

// A GPU description without a latency of barriers has that of branches.
std::uint32_t barrier_latency(const gpu::SmConfig& sm) {
  return sm.barrier_latency != 0 ? sm.barrier_latency : sm.units[static_cast<std::size_t>(gpu::Unit::branch)].latency;
}

// Cycles beyond the latency of the branch unit.
std::uint32_t taken_branch(const gpu::SmConfig& sm) {
  const std::uint32_t latency = sm.units[static_cast<std::size_t>(gpu::Unit::branch)].latency;
  return std::max(sm.taken_branch_latency, latency) - latency;
}

}  // namespace

WarpIssue::WarpIssue(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm, IssueEvents& events)
    : config_(config),
      events_(events),
      issue_width_(config.sm.issue_width),
      cycle_nanoseconds_((std::uint64_t{1000} << 20) / config.sm.clock_mhz),
      barrier_latency_(barrier_latency(config.sm)),
      barrier_per_warp_(config.sm.barrier_per_warp),
      taken_(taken_branch(config.sm)),
      reconvergence_(config.sm.reconvergence_latency),
      schedulers_(config.sm),
      scoreboard_(config.sm.warps()),
      memory_(config, timing, sm),
      icache_(tag_spec(config.icache.bytes, config.icache.line, config.icache.ways, config.icache.replacement)) {
  for (std::size_t u = 0; u < gpu::kUnits; ++u)
    if (config.sm.units[u].per_sm) sm_units_ |= 1U << u;
}

std::uint64_t WarpIssue::fetch(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
  if (op.line == w.line) return now;
  w.line = op.line;
  const LineAddress address = (std::uint64_t{w.kernel} << 48) | op.line;
  if (icache_.lookup(address, 1) != 0) return now;
  icache_.fill(address, 1, false);
  return now + config_.icache.miss_latency;
}

// Executes an operation that takes no issue slot. False: it faults, and is issued like any other so that the fault is
// reported.
bool WarpIssue::fold(WarpSlot& w, const TimedOp& op, std::uint64_t now) {
  std::uint32_t lanes = 0;
  if (!w.executed()) {
    exec::Step step;
    w.warp->step(step);
    if (w.resident->run->block.fault()) return false;
    lanes = exec::count_lanes(step.active);
  } else {
    lanes = w.front->lanes;
    ++w.front;
  }
  schedulers_.counters().count(w.kernel, static_cast<std::uint32_t>(&op - w.ops), lanes, false);
  schedulers_.spend(w.kernel, lanes, now, now);
  return true;
}

void WarpIssue::prepare(WarpSlot& w, std::uint64_t now, std::uint64_t not_before) {
  SchedulerState& s = schedulers_[w.scheduler];
  // An endless loop of folded operations, as a jump to itself, must take time.
  constexpr std::uint32_t kMaxFolded = 1024;
  for (std::uint32_t folded = 0;; ++folded) {
    // The result of an atomic comes later than its issue: until then operations are not executed ahead.
    if (!w.executed() && w.atomics == 0) {
      w.ahead->refill(*w.warp, shared_banks(config_.shared));
      w.front = w.ahead->begin();
      w.back = w.ahead->end();
    }
    if (!w.executed() && !w.warp->ready()) {
      if (w.warp->done()) return events_.on_warp_exited(w, now);
      w.state = WarpState::barrier;
      s.barrier |= w.bit;
      ++w.resident->at_barrier;
      return events_.on_barrier(*w.resident, now);
    }
    const TimedOp& op = w.ops[w.executed() ? w.front->pc : w.warp->next_pc()];
    w.next = &op;
    const std::uint64_t fetched = fetch(w, op, now);
    const Scoreboard::Time latest = w.last_operand(op);
    std::uint64_t copied = 0;  // when the data of copies that it waits for is there
    const auto waits = [&] { return op.copies == CopyRole::none ? w.loads != 0 : w.copies.must_wait(op, copied); };
    if (latest == Scoreboard::kUnknown || (op.waits_for_loads && waits())) {
      w.state = WarpState::memory;
      s.memory |= w.bit;
      return;
    }
    std::uint64_t at = std::max({not_before, fetched, scoreboard_.cycle(latest) + op.branch.guard_latency});
    if (op.waits_for_loads) at = std::max(at, copied);
    // A folded operation of a closed kernel waits like any other.
    if (op.folded && folded < kMaxFolded && !schedulers_.quota().is_closed(w.kernel) && fold(w, op, now)) {
      // A load that was joined to another one arrives with it; behind a branch that became a predicate, instructions
      // wait for that predicate.
      if (op.kind == TimedKind::load) at = std::max(at, now) + config_.shared.latency;
      if (op.kind == TimedKind::branch && config_.assembled) not_before = at;
      w.set_written(op, at > not_before ? scoreboard_.time(at) : 0);
      continue;
    }
    w.state = WarpState::waiting;
    w.due = at;
    s.want(w, op.unit);
    if (at > now) {
      s.fetching = fetched == at ? s.fetching | w.bit : s.fetching & ~w.bit;
      schedulers_.times().no_later(w.scheduler, static_cast<std::size_t>(op.unit), s.sleep(w, now));
      return;
    }
    s.ready |= w.bit;
    schedulers_.times().no_later(w.scheduler, static_cast<std::size_t>(op.unit), now);
    return;
  }
}

// Issues an operation that was not executed ahead: it is executed now.
void WarpIssue::issue_now(SchedulerState& s, WarpSlot& w, std::uint64_t now) {
  const TimedOp& op = *w.next;
  ResidentBlock& r = *w.resident;
  s.ready &= ~w.bit;
  AtomicsInFlight& atomics = memory_.atomics();
  if (atomics.any() && (op.kind == TimedKind::load || op.kind == TimedKind::store) && atomics.conflicts(*w.warp)) {
    w.state = WarpState::memory;
    s.memory |= w.bit;
    atomics.wait(schedulers_.warps().number_of(w));
    return;
  }
  exec::Step step;
  r.run->block.clock = now;
  r.run->block.timer = now * cycle_nanoseconds_ >> 20;
  w.warp->step(step);
  const auto lanes = exec::count_lanes(step.active);
  schedulers_.counters().count(w.kernel, static_cast<std::uint32_t>(&op - w.ops), lanes, true);
  take_unit(s, op, now);
  if (r.run->block.fault()) {
    refresh_lsu(now);
    return events_.on_fault(r);
  }
  if (op.copies == CopyRole::commit) w.copies.commit(now);

  std::uint64_t ready = now + op.latency;
  if (step.memory)
    ready = memory_.access(w, schedulers_.warps().number_of(w), op, step, now, schedulers_.counters()[w.kernel]);
  if (ready != Scoreboard::kPending) schedulers_.spend(w.kernel, lanes, now, ready);
  refresh_lsu(now);
  w.set_written(op, scoreboard_.time(ready));
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.issue_slots == 1;
  prepare(w, now, turns ? now + op.latency + turn(w, op, lanes) : now + (second ? 0 : 1));
  // The last warp that arrives or exits does not wait itself.
  if (op.kind == TimedKind::barrier || step.exited) events_.on_barrier(r, now);
}

}  // namespace wm::sim
