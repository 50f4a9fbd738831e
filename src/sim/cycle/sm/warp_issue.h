// The issue of one instruction of a warp: the units and the scoreboard entries it occupies, and the time at which the
// warp's next instruction can issue.
//
// A scheduler chooses the warp (IssueStage). Functions on the path of every issue are inline, so that the compiler
// makes one piece of them and the schedulers' loop.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "gpu/gpu_config.h"
#include "sim/cycle/memory/tags.h"
#include "sim/cycle/sm/memory_stage.h"
#include "sim/cycle/sm/scheduler_set.h"
#include "sim/cycle/sm/scoreboard.h"

namespace wm::sim {

class IssueEvents {
 public:
  // A block starts or a reply arrives at `now`.
  virtual void on_arrival(std::uint64_t now) = 0;
  virtual void on_warp_exited(WarpSlot& warp, std::uint64_t now) = 0;
  // A warp of the block reached a barrier, waits or exited: warps that wait may go on.
  virtual void on_barrier(ResidentBlock& block, std::uint64_t now) = 0;
  virtual void on_fault(ResidentBlock& block) = 0;

 protected:
  ~IssueEvents() = default;
};

class WarpIssue {
 public:
  static constexpr std::uint64_t kNever = SchedulerSet::kNever;

  WarpIssue(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm, IssueEvents& events);

  // Finds when the warp's next instruction can issue, no earlier than `not_before`, executing what is folded on the
  // way.
  void prepare(WarpSlot& w, std::uint64_t now, std::uint64_t not_before);
  // Issues the warp's next instruction, which can issue, and prepares the one behind it.
  void issue(SchedulerState& s, WarpSlot& w, std::uint64_t now) {
    if (w.executed()) return issue_executed(s, w, now);
    issue_now(s, w, now);
  }
  // Issues an operation that was executed ahead: only its time is simulated now.
  void issue_executed(SchedulerState& s, WarpSlot& w, std::uint64_t now);
  // Issues the warp's next instruction, which is `plain`, at `at` and the following ones that issue as soon as their
  // unit accepts them, before `end` and before any other warp may issue. Returns the time of the last issue.
  std::uint64_t issue_run(SchedulerState& s, WarpSlot& w, std::uint64_t at, std::uint64_t end);
  // Whether issuing `op`, which the warp has executed, and preparing the next instruction affect only the warp and its
  // scheduler.
  [[nodiscard]] bool is_local(const WarpSlot& w, const TimedOp& op) const {
    return w.back - w.front >= 2 && op.unit != gpu::Unit::load_store && !is_shared(op.unit) &&
           w.ops[w.front[1].pc].issued_line == op.line;
  }

  // Cycles from the arrival of the last of `warps` warps at a barrier until they go on.
  [[nodiscard]] std::uint64_t barrier_release(std::size_t warps) const {
    return barrier_latency_ + barrier_per_warp_ * warps;
  }
  // Called after the time at which the load/store unit accepts another instruction may have changed.
  void refresh_lsu(std::uint64_t now) {
    const Lsu& lsu = memory_.lsu();
    if (lsu.blocked())
      schedulers_.block_lsu(lsu.waiting_kernel(), now, std::max(now + 1, lsu_taken_));
    else
      schedulers_.unblock_lsu(now);
    schedulers_.times().open_lsu(lsu.blocked() ? kNever : std::max(lsu_taken_, lsu.free_at()));
  }

  [[nodiscard]] std::uint32_t width() const { return issue_width_; }
  [[nodiscard]] SchedulerSet& schedulers() { return schedulers_; }
  [[nodiscard]] const SchedulerSet& schedulers() const { return schedulers_; }
  [[nodiscard]] Scoreboard& scoreboard() { return scoreboard_; }
  [[nodiscard]] MemoryStage& memory() { return memory_; }
  [[nodiscard]] const MemoryStage& memory() const { return memory_; }

 private:
  [[nodiscard]] bool is_shared(gpu::Unit unit) const { return (sm_units_ >> static_cast<std::size_t>(unit) & 1) != 0; }
  void issue_now(SchedulerState& s, WarpSlot& w, std::uint64_t now);
  // Cycles beyond its latency that the branch `op`, just executed, takes the warp if `away` lanes took it.
  [[nodiscard]] std::uint32_t turn(const WarpSlot& w, const TimedOp& op, std::uint32_t away) const;
  void take_unit(SchedulerState& s, const TimedOp& op, std::uint64_t now);
  void prepare_next(SchedulerState& s, WarpSlot& w, std::uint64_t now, std::uint64_t not_before);
  [[nodiscard]] bool fold(WarpSlot& w, const TimedOp& op, std::uint64_t now);
  [[nodiscard]] std::uint64_t fetch(WarpSlot& w, const TimedOp& op, std::uint64_t now);

  const gpu::GpuConfig& config_;
  IssueEvents& events_;
  std::uint32_t issue_width_;
  std::uint64_t cycle_nanoseconds_;  // in units of 2^-20
  std::uint32_t barrier_latency_;
  std::uint32_t barrier_per_warp_;
  std::uint32_t taken_;          // additional cycles of a branch that is taken
  std::uint32_t reconvergence_;  // and of one at which lanes part
  std::uint32_t sm_units_ = 0;   // bits: units that an SM has once; all its schedulers have the same `free` for them
  std::uint64_t lsu_taken_ = 0;  // the cycle until which an instruction has the load/store unit, where an SM has one
  SchedulerSet schedulers_;
  Scoreboard scoreboard_;
  MemoryStage memory_;
  Tags icache_;
};

inline void WarpIssue::take_unit(SchedulerState& s, const TimedOp& op, std::uint64_t now) {
  const auto unit = static_cast<std::size_t>(op.unit);
  const std::uint64_t until = now + op.occupies;
  s.port = now + op.issue_slots;
  if (!is_shared(op.unit)) {
    s.occupy(unit, until);
  } else if (unit == kLoadStore) {
    lsu_taken_ = until;
  } else {
    for (std::uint32_t i = 0; i < kMaxSchedulers; ++i) schedulers_[i].occupy(unit, until);
  }
}

// Lanes that do not take a branch go first: the warp goes on behind a branch that some took only if lanes part there.
inline std::uint32_t WarpIssue::turn(const WarpSlot& w, const TimedOp& op, std::uint32_t away) const {
  if (away == 0 || (taken_ | reconvergence_) == 0) return 0;
  if (!op.branch.parts_lanes || (!w.executed() && !w.warp->ready())) return taken_;
  const std::uint32_t next = w.executed() ? w.front->pc : w.warp->next_pc();
  return &w.ops[next] == &op + 1 ? reconvergence_ : taken_;
}

// Like prepare() after an issue at `now`, with a fast path for the common case. The scheduler does not examine its
// warps again in that cycle, so a warp that can issue in the next one need not sleep. (With issue_width 2 it does.)
inline void WarpIssue::prepare_next(SchedulerState& s, WarpSlot& w, std::uint64_t now, std::uint64_t not_before) {
  if (!w.executed() || issue_width_ != 1) return prepare(w, now, not_before);
  const TimedOp& op = w.ops[w.front->pc];
  if (!op.direct) return prepare(w, now, not_before);
  w.next = &op;
  const std::uint64_t fetched = op.line == w.line ? now : fetch(w, op, now);
  const Scoreboard::Time latest = w.last_operand(op);
  if (latest == Scoreboard::kUnknown) {
    w.state = WarpState::memory;
    s.memory |= w.bit;
    return;
  }
  w.due = std::max(std::max(not_before, fetched), scoreboard_.cycle(latest));
  s.want(w, op.unit);
  if (w.due == now + 1) {
    s.ready |= w.bit;
    return;
  }
  s.fetching = fetched == w.due ? s.fetching | w.bit : s.fetching & ~w.bit;
  s.sleep(w, now);
}

inline void WarpIssue::issue_executed(SchedulerState& s, WarpSlot& w, std::uint64_t now) {
  const TimedOp& op = *w.next;
  s.ready &= ~w.bit;
  const exec::Executed executed = *w.front++;
  KernelCounters& counters = schedulers_.counters();
  counters.count(w.kernel, executed.pc, executed.lanes, true);
  std::uint64_t ready = now + op.latency;
  if (executed.note != 0) {
    const auto note = std::bit_cast<SharedNote>(executed.note);
    SmCounters& c = counters[w.kernel];
    c.shared_lanes += note.words;
    c.shared_conflict_cycles += note.cycles - 1U;
    ready = memory_.lsu().shared(note.cycles * op.shared.weight, now).ready;
  }
  schedulers_.spend(w.kernel, executed.lanes, now, ready);
  take_unit(s, op, now);
  if (executed.note != 0 || op.unit == gpu::Unit::load_store) refresh_lsu(now);
  if (op.simple) {
    w.ready[op.written] = scoreboard_.known(ready);
    return prepare_next(s, w, now, now + (issue_width_ > 1 ? 0 : 1));
  }
  if (op.copies == CopyRole::commit) w.copies.commit(now);
  w.set_written(op, scoreboard_.time(ready));
  const bool turns = op.kind == TimedKind::branch;
  const bool second = issue_width_ > 1 && !turns && op.issue_slots == 1;
  prepare_next(s, w, now, turns ? ready + turn(w, op, executed.lanes) : now + (second ? 0 : 1));
}

inline std::uint64_t WarpIssue::issue_run(SchedulerState& s, WarpSlot& w, std::uint64_t at, std::uint64_t end) {
  s.ready &= ~w.bit;
  const std::uint64_t start = at;
  std::uint64_t others = 0;  // when other warps may issue; computed only if needed
  KernelCounters& counters = schedulers_.counters();
  std::uint64_t* tallies = counters.tallies(w.kernel);
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
    const std::uint64_t then = at + op->next_issue;
    if (then >= end) break;
    if (op->occupies > op->issue_slots) {
      if (others == 0) others = schedulers_.others_due(s, w.scheduler, w.unit, start);
      if (then > others) break;
    }
    if (w.back - front < 2) break;
    const TimedOp& next = w.ops[front->pc];
    if (next.plain_unit != op->plain_unit || w.ops[front[1].pc].issued_line != next.line) break;
    const Scoreboard::Time latest = w.last_operand(next);
    if (latest == Scoreboard::kUnknown || scoreboard_.cycle(latest) > at + 1) break;
    stalled += then - at - 1;
    op = &next;
    at = then;
  }
  w.front = front;
  counters[w.kernel].thread_instructions += lanes;
  counters[w.kernel].stalls[static_cast<std::size_t>(Stall::unit)] += stalled;
  s.now = at;
  schedulers_.catch_up(s, at);  // warps that woke meanwhile are awake
  take_unit(s, *op, at);
  prepare_next(s, w, at, at + 1);
  return at;
}

}  // namespace wm::sim
