// The schedulers' loop: it finds the time at which each warp's next instruction can issue, chooses among those that
// can, occupies the units, and attributes cycles without an issue to a reason.
//
// It never ticks: a warp sleeps until its next instruction's operands are ready (a known time) or until a load comes
// back, and cycles in which nothing can issue are passed over. The loop does not decide about blocks: it tells
// its IssueEvents.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/gpu_config.h"
#include "sim/cycle/memory/tags.h"
#include "sim/cycle/sm/issue_times.h"
#include "sim/cycle/sm/kernel_counters.h"
#include "sim/cycle/sm/memory_stage.h"
#include "sim/cycle/sm/quota_gate.h"
#include "sim/cycle/sm/scheduler_state.h"
#include "sim/cycle/sm/scoreboard.h"
#include "sim/cycle/sm/warp_table.h"

namespace wm::sim {

class IssueEvents {
 public:
  // A block starts or a reply arrives at `now`.
  virtual void on_arrival(std::uint64_t now) = 0;
  virtual void on_warp_exited(WarpSlot& warp, std::uint64_t now) = 0;
  // A warp of the block reached a barrier or exited: warps that wait may go on.
  virtual void on_barrier(ResidentBlock& block, std::uint64_t now) = 0;
  virtual void on_fault(ResidentBlock& block) = 0;

 protected:
  ~IssueEvents() = default;
};

class IssueStage {
 public:
  static constexpr std::uint64_t kNever = IssueTimes::kNever;

  IssueStage(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm, IssueEvents& events);

  // Simulates cycles from `begin` up to `until`.
  void run(std::uint64_t begin, std::uint64_t until);

  // The cycle that is being simulated; between runs the next one with something to do.
  [[nodiscard]] std::uint64_t now() const { return now_; }
  void wake_by(std::uint64_t at) { now_ = std::min(now_, at); }

  // The events that may make warps ready from outside: the next block that starts and the next reply, as cycles, and
  // whether another block waits to follow one that ends, so many cycles later.
  void set_block_start(std::uint64_t at) { outside_.block_starts = at; }
  void set_reply_arrival(std::uint64_t at) { outside_.reply_arrives = at; }
  void set_follower(bool waits, std::uint32_t after) { outside_.follows_after = waits ? after : kNever; }
  void set_kernels(std::uint32_t kernels) { kernels_ = kernels; }

  // --- for the blocks
  // The warp in the slot, which was claimed, joins its scheduler.
  void add(WarpSlot& w, std::uint64_t at);
  void remove(WarpSlot& w);
  // Finds the time at which the warp's next instruction can issue, no earlier than `not_before`; folded instructions
  // before it are executed.
  void prepare(WarpSlot& w, std::uint64_t now, std::uint64_t not_before);
  // Takes the warp out of the set that its state says it is in.
  void leave(const WarpSlot& w) { schedulers_[w.scheduler].leave(w); }
  // The warp has exited; from `now` on nothing is charged to it.
  void end(WarpSlot& w, std::uint64_t now);
  // Cycles from the arrival of the last of `warps` warps at a barrier until they go on.
  [[nodiscard]] std::uint64_t barrier_release(std::size_t warps) const;
  // Called after the time at which the load/store unit accepts another instruction may have changed.
  void refresh_lsu() {
    const Lsu& lsu = memory_.lsu();
    times_.open_lsu(lsu.blocked() ? kNever : std::max(lsu_taken_, lsu.free_at()));
  }

  // Brings the stall counters up to `now`, which no run has passed; the others are always up to date.
  void charge_until(std::uint64_t now) {
    for (SchedulerState& s : schedulers_) account(s, now);
  }
  // Warps of the kernel that could issue but did not, by the time of charge_until().
  [[nodiscard]] std::uint32_t idle_warps(std::uint8_t kernel) const;
  // Gives the kernel a quota (QuotaGate::set). `resident`: the kernel has blocks here, which may issue at once.
  void set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now, bool resident);

  [[nodiscard]] WarpTable& warps() { return warps_; }
  [[nodiscard]] const WarpTable& warps() const { return warps_; }
  [[nodiscard]] Scoreboard& scoreboard() { return scoreboard_; }
  [[nodiscard]] KernelCounters& counters() { return counters_; }
  [[nodiscard]] const KernelCounters& counters() const { return counters_; }
  [[nodiscard]] QuotaGate& quota() { return quota_; }
  [[nodiscard]] const QuotaGate& quota() const { return quota_; }
  [[nodiscard]] MemoryStage& memory() { return memory_; }
  [[nodiscard]] const MemoryStage& memory() const { return memory_; }

 private:
  struct Outside {
    std::uint64_t until = 0;  // the end of the run
    std::uint64_t block_starts = kNever;
    std::uint64_t reply_arrives = kNever;
    std::uint64_t follows_after = kNever;
  };

  // --- choice of the warp that issues
  [[nodiscard]] std::uint32_t first_scheduler(std::uint64_t now) const;
  inline void tick(std::uint32_t number, std::uint64_t now);
  inline void catch_up(SchedulerState& s, std::uint64_t now);
  [[nodiscard]] inline WarpMask eligible(const SchedulerState& s, std::uint64_t now) const;
  void issue_several(SchedulerState& s, std::uint32_t number, std::uint64_t now);
  inline void set_due(SchedulerState& s, std::uint32_t number, std::uint64_t now);
  [[nodiscard]] std::uint64_t unit_free(const SchedulerState& s, std::size_t unit) const {
    return unit == kLoadStore ? std::max(s.free[unit], times_.lsu_open()) : s.free[unit];
  }

  // --- resources that an issue occupies
  inline void issue(SchedulerState& s, WarpSlot& w, std::uint64_t now);
  void issue_now(SchedulerState& s, WarpSlot& w, std::uint64_t now);
  inline void issue_executed(SchedulerState& s, WarpSlot& w, std::uint64_t now);
  inline void take_unit(SchedulerState& s, const TimedOp& op, std::uint64_t now);
  inline void prepare_next(SchedulerState& s, WarpSlot& w, std::uint64_t now, std::uint64_t not_before);
  bool fold(WarpSlot& w, const TimedOp& op, std::uint64_t now);
  std::uint64_t fetch(WarpSlot& w, const TimedOp& op, std::uint64_t now);
  void spend(std::uint8_t kernel, std::uint32_t lanes, std::uint64_t now) {
    if (quota_.has_quota(kernel)) spend_quota(kernel, lanes, now);
  }
  void spend_quota(std::uint8_t kernel, std::uint32_t lanes, std::uint64_t now);

  // --- a greedy scheduler continues with its warp, ahead of the other schedulers' time
  inline void go_on(SchedulerState& s, WarpSlot& w, std::uint32_t number);
  inline std::uint64_t issue_run(SchedulerState& s, WarpSlot& w, std::uint64_t at, std::uint64_t end);
  [[nodiscard]] inline bool is_local(const WarpSlot& w, const TimedOp& op) const;
  [[nodiscard]] inline std::uint64_t undisturbed_until(const SchedulerState& s) const;
  [[nodiscard]] inline std::uint64_t others_due(SchedulerState& s, std::uint32_t number, gpu::Unit unit,
                                                std::uint64_t now) const;

  // --- attribution of cycles without an issue
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
    WarpMask woken = s.wheel.take();
    if ((woken & s.far) != 0) woken = sleep_on(s, woken, at);
    s.ready |= woken;
  }
  WarpMask sleep_on(SchedulerState& s, WarpMask woken, std::uint64_t now);

  const gpu::GpuConfig& config_;
  IssueEvents& events_;
  std::uint32_t issue_width_;
  bool greedy_ = false;         // a scheduler stays with its warp, and issues one instruction a cycle
  std::uint32_t kernels_ = 0;   // number of kernels with blocks on this SM
  std::uint32_t sm_units_ = 0;  // bits: units that an SM has once; all its schedulers have the same `free` for them
  IssueTimes times_;
  std::uint64_t lsu_taken_ = 0;  // the cycle until which an instruction has the load/store unit, where an SM has one
  Outside outside_;
  std::array<SchedulerState, kMaxSchedulers> schedulers_;
  WarpTable warps_;
  Scoreboard scoreboard_;
  QuotaGate quota_;
  MemoryStage memory_;
  KernelCounters counters_;
  Tags icache_;
  std::uint64_t now_ = kNever;
};

}  // namespace wm::sim
