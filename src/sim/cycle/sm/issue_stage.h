// The schedulers' loop: in each cycle it chooses the warps that issue.
//
// It never ticks: a warp sleeps until its next instruction's operands are ready (a known time) or until a load comes
// back, and cycles in which nothing can issue are passed over. The loop does not decide about blocks: it tells
// its IssueEvents.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/gpu_config.h"
#include "sim/cycle/sm/scheduler_set.h"
#include "sim/cycle/sm/warp_issue.h"

namespace wm::sim {

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
  void set_block_start(std::uint64_t at) {
    outside_.block_starts = at;
    outside_.next = std::min(at, outside_.reply_arrives);
  }
  void set_reply_arrival(std::uint64_t at) {
    outside_.reply_arrives = at;
    outside_.next = std::min(at, outside_.block_starts);
  }
  void set_follower(bool waits, std::uint32_t after) { outside_.follows_after = waits ? after : kNever; }
  void set_kernels(std::uint32_t kernels) { schedulers().set_kernels(kernels); }

  // --- for the blocks
  // The warp in the slot, which was claimed, joins its scheduler.
  void add(WarpSlot& w, std::uint64_t at);
  void remove(WarpSlot& w) { schedulers().remove(w); }
  void prepare(WarpSlot& w, std::uint64_t now, std::uint64_t not_before) { warp_issue_.prepare(w, now, not_before); }
  void leave(const WarpSlot& w) { schedulers().leave(w); }
  void end(WarpSlot& w, std::uint64_t now) { schedulers().end(w, now); }
  [[nodiscard]] std::uint64_t barrier_release(std::size_t warps) const { return warp_issue_.barrier_release(warps); }
  void refresh_lsu() { warp_issue_.refresh_lsu(now_); }

  // Brings the stall counters up to `now`, which no run has passed; the others are always up to date.
  void charge_until(std::uint64_t now) { schedulers().charge_until(now); }
  // Warps of the kernel that could issue but did not, by the time of charge_until().
  [[nodiscard]] std::uint32_t idle_warps(std::uint8_t kernel) const {
    return warp_issue_.schedulers().idle_warps(kernel);
  }
  // Kernels whose quota was spent since the last call, as bits.
  std::uint32_t take_spent() { return schedulers().take_spent(); }
  // Instructions of the kernel that waited for memory complete at `at`.
  void complete(std::uint8_t kernel, std::uint32_t instructions, std::uint64_t at) {
    schedulers().spend(kernel, instructions, now_, at);
  }
  // Gives the kernel a quota (QuotaGate::set). `resident`: the kernel has blocks here, which may issue at once.
  void set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now, bool resident);

  [[nodiscard]] WarpTable& warps() { return schedulers().warps(); }
  [[nodiscard]] const WarpTable& warps() const { return warp_issue_.schedulers().warps(); }
  [[nodiscard]] Scoreboard& scoreboard() { return warp_issue_.scoreboard(); }
  [[nodiscard]] KernelCounters& counters() { return schedulers().counters(); }
  [[nodiscard]] const KernelCounters& counters() const { return warp_issue_.schedulers().counters(); }
  [[nodiscard]] const QuotaGate& quota() const { return warp_issue_.schedulers().quota(); }
  [[nodiscard]] MemoryStage& memory() { return warp_issue_.memory(); }
  [[nodiscard]] const MemoryStage& memory() const { return warp_issue_.memory(); }

 private:
  struct Outside {
    std::uint64_t until = 0;  // the end of the run
    std::uint64_t block_starts = kNever;
    std::uint64_t reply_arrives = kNever;
    std::uint64_t next = kNever;  // the first of these two
    std::uint64_t follows_after = kNever;
  };

  [[nodiscard]] SchedulerSet& schedulers() { return warp_issue_.schedulers(); }
  [[nodiscard]] inline std::uint32_t first_scheduler(std::uint64_t now) const;
  inline void tick(std::uint32_t number, std::uint64_t now);
  void issue_several(SchedulerState& s, std::uint32_t number, std::uint64_t now);
  inline WarpSlot* choose(SchedulerState& s, std::uint32_t number, std::uint64_t now);
  inline void issue_greedily(SchedulerState& s, WarpSlot& w, std::uint32_t number, std::uint64_t now);
  inline void go_on(SchedulerState& s, WarpSlot& w, std::uint32_t number);
  // Whether neither another kernel nor a quota can stop the warp.
  [[nodiscard]] bool may_go_on(const WarpSlot& w) const {
    return warp_issue_.schedulers().one_open_kernel() && !quota().has_quota(w.kernel);
  }
  [[nodiscard]] inline std::uint64_t undisturbed_until(const SchedulerState& s) const;

  IssueEvents& events_;
  bool greedy_;        // a scheduler stays with its warp, and issues one instruction a cycle
  bool scattered_;     // the order in which schedulers look has no short period
  bool power_of_two_;  // the number of schedulers is one
  WarpIssue warp_issue_;
  Outside outside_;
  std::uint64_t now_ = kNever;
};

}  // namespace wm::sim
