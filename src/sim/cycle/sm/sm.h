// A streaming multiprocessor: warps, schedulers, pipelines, and the blocks that are resident.
//
// It runs a quantum of time at once (`run`) without looking at anything outside itself: requests to memory are left in
// its outbox, replies were put in its inbox before. It never ticks: a warp sleeps until its next instruction's operands
// are ready (a known time) or until a reply comes, and cycles in which nothing can issue are passed over.
//
// Dispatch is not decided here: blocks are started, stopped and capped from outside, between quanta. Within one only a
// block that ends may be followed by another of its kernel, where that was offered before.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "exec/block.h"
#include "exec/global_port.h"
#include "gpu/gpu_config.h"
#include "sim/cycle/memory/partition.h"
#include "sim/cycle/sm/counters.h"
#include "sim/cycle/sm/lsu.h"
#include "sim/cycle/sm/timed_program.h"
#include "sim/cycle/sm/wheel.h"

namespace wm::sim {

// A launch as SMs see it, the same for all blocks.
struct RunningKernel {
  const TimedProgram* program = nullptr;
  const exec::Grid* grid = nullptr;
  std::uint64_t client = 0;  // in the top byte of line addresses
  std::uint8_t slot = 0;     // its counters, below kMaxKernels
};

// Operations a warp executed ahead of their time (exec::Warp::run_ahead), first to last; each is still to be issued.
// The note of one that went to shared memory holds what that takes.
struct SharedNote {
  std::uint16_t cycles = 0;  // 0: it did not
  std::uint16_t words = 0;
};
class Ahead {
 public:
  // Those that are left. An SM goes through them on its own, and says how far it came where the block leaves.
  [[nodiscard]] const exec::Executed* begin() const { return ops_.data() + head_; }
  [[nodiscard]] const exec::Executed* end() const { return ops_.data() + count_; }
  void go_to(const exec::Executed* at) { head_ = static_cast<std::uint16_t>(at - ops_.data()); }
  void clear() { head_ = count_ = 0; }
  // When empty: as many as there are and fit. None: the next operation must wait for its time.
  void refill(exec::Warp& warp, std::uint32_t banks);

 private:
  static constexpr std::uint32_t kMaxOps = 63;
  std::uint16_t head_ = 0;
  std::uint16_t count_ = 0;
  std::array<exec::Executed, kMaxOps> ops_;
};

// A block on its way: begun, running, or set aside with all its state.
struct BlockRun {
  exec::Block block;
  std::vector<Ahead> ahead;  // by warp
  RunningKernel kernel;
  std::uint64_t number = 0;   // in its grid
  std::uint64_t started = 0;  // cycle of its first start
  bool begun = false;

  // Where the SM it was given to is about to run it for the first time.
  void begin(exec::Block::Where where) {
    begun = true;
    block.start(*kernel.grid, kernel.grid->block_index(number), where);
    ahead.resize(block.warps());
    for (Ahead& a : ahead) a.clear();
  }
};

class Sm {
 public:
  Sm(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t index);

  // --- between quanta
  // Takes a block, a new one or one that was set aside; its warps may issue from `at` on. The work of beginning it is
  // part of a quantum.
  void start(std::unique_ptr<BlockRun> run, std::uint64_t at);
  // Block `number` of the kernel slot may follow when one of the slot's blocks ends in the next quantum.
  struct Offer {
    std::uint8_t slot = 0;
    std::uint64_t number = 0;
  };
  void offer(Offer block) { offers_.push_back(block); }
  // What was offered and not taken, first to last; the caller clears it.
  std::vector<Offer>& offers() { return offers_; }
  // Stops up to `count` blocks of the kernel slot, the youngest first: they issue no more, and appear in `stopped` once
  // their loads have come back. Returns how many.
  std::uint32_t stop(std::uint8_t slot, std::uint32_t count, std::uint64_t now);
  [[nodiscard]] std::uint32_t resident(std::uint8_t slot) const { return resident_[slot]; }
  // Nothing of the kernel slot is on its way to or from memory.
  [[nodiscard]] bool quiet(std::uint8_t slot) const { return lsu_.quiet(slot); }
  // When the slot's last block ended or its last message came, so far.
  [[nodiscard]] std::uint64_t last_of(std::uint8_t slot) const { return last_[slot]; }
  [[nodiscard]] std::uint32_t free_warps() const { return free_warps_; }

  struct Ended {
    std::unique_ptr<BlockRun> run;  // none where another block follows in its place
    std::uint64_t at = 0;
    std::uint8_t slot = 0;
    std::uint64_t number = 0;  // in its grid
    bool followed = false;
    std::uint64_t follower = 0;  // its number
    std::uint64_t follows_at = 0;
  };
  std::vector<Ended>& ended() { return ended_; }
  std::vector<Ended>& stopped() { return stopped_; }
  // The first fault of a block since the last call, with its kernel slot.
  struct Faulted {
    std::uint8_t slot = 0;
    exec::Fault fault;
  };
  std::vector<Faulted>& faulted() { return faulted_; }

  // Replies, in any order.
  void receive(const Message& reply) {
    inbox_.push_back(reply);
    next_ = std::min(next_, reply.time);
    unsorted_ = true;
  }
  std::vector<Message>& outbox() { return lsu_.outbox(); }
  // L1 forgets the client's lines, as at the start of its launch.
  void forget(std::uint64_t client) { lsu_.forget(client); }
  // Makes the quantum's stores visible to other SMs.
  void publish() { port_.publish(); }

  // Thread instructions the kernel slot may issue; it issues none at 0 or below.
  void set_quota(std::uint8_t slot, std::int64_t instructions, std::uint64_t now);
  [[nodiscard]] std::int64_t quota(std::uint8_t slot) const { return quota_[slot]; }

  // Kernel slots whose quota was spent since the last call, as bits.
  std::uint32_t take_spent() { return std::exchange(newly_spent_, 0); }

  // Moves `bytes` of a block's context to memory at line `place`, or back; its number appears in `moved` when all is
  // there.
  std::uint32_t move_context(MessageKind kind, std::uint64_t bytes, std::uint64_t place, std::uint8_t slot);
  std::vector<std::uint32_t>& moved() { return moved_; }

  // --- a quantum
  void run(std::uint64_t begin, std::uint64_t until);
  // The next cycle with something to do; what is being moved goes on all the time.
  [[nodiscard]] std::uint64_t next_event() const { return lsu_.moving() ? 0 : next_; }

  // Brings the stall counters up to `now`, which no quantum has passed; the others are always up to date.
  void charge_until(std::uint64_t now) {
    for (Scheduler& s : schedulers_) account(s, now);
  }
  [[nodiscard]] SmCounters& counters(std::uint8_t slot) {
    count_tally(slot);
    return counters_[slot];
  }
  // The same of one counter, at less cost.
  [[nodiscard]] std::uint64_t thread_instructions(std::uint8_t slot) const {
    return counters_[slot].thread_instructions;
  }
  // Warps that could issue but did not, of the kernel slot, by the time of charge_until().
  [[nodiscard]] std::uint32_t idle_warps(std::uint8_t slot) const;

 private:
  // `waiting`: for operands that come at a known time, then for its turn.
  enum class State : std::uint8_t { empty, waiting, memory, barrier, done };

  struct Resident {
    std::unique_ptr<BlockRun> run;
    std::vector<std::uint16_t> warps;  // slots, by warp of the block
    std::uint32_t alive = 0;
    std::uint32_t stuck = 0;    // warps at a barrier
    std::uint32_t loads = 0;    // on their way
    std::uint32_t atomics = 0;  // of these, those that will write a register
    bool stopping = false;
  };
  struct CopyGroup {
    std::uint32_t pending = 0;  // copies on their way
    std::uint64_t ready = 0;    // when those that came are there
  };
  // What issuing touches comes first, a cache line of it.
  struct alignas(64) WarpSlot {
    const exec::Executed* front = nullptr;  // of those in `ahead`
    const exec::Executed* back = nullptr;   // behind the last of them
    std::uint32_t* ready = nullptr;         // by register: when it can be used, since epoch_; kUnknown
    const TimedOp* ops = nullptr;           // of its program
    const TimedOp* next = nullptr;
    WarpMask bit = 0;          // in its scheduler's masks
    std::uint64_t due = 0;     // while it waits: when its instruction can issue
    std::uint32_t line = ~0U;  // of code it fetched last
    State state = State::empty;
    std::uint8_t scheduler = 0;
    std::uint8_t kernel = 0;
    gpu::Unit unit = gpu::Unit::fp32;  // that its next instruction needs
    exec::Warp* warp = nullptr;
    Ahead* ahead = nullptr;
    const std::uint32_t* registers = nullptr;  // what the operations' first_register counts from
    Resident* resident = nullptr;
    std::uint64_t age = 0;
    std::uint32_t loads = 0;    // on their way
    std::uint32_t atomics = 0;  // of these, those that will write a register
    std::vector<std::uint32_t> scoreboard;
    std::vector<CopyGroup> copies;  // groups that were committed, oldest first, and the one that is open
    std::uint32_t copies_gone = 0;  // groups before the first of these

    [[nodiscard]] bool executed() const { return front != back; }  // its next operation, ahead of its time
  };
  struct alignas(64) Scheduler {
    std::uint32_t units = 0;                    // bit: the unit is wanted
    std::uint32_t last = 64;                    // the warp that issued last
    WarpMask ready = 0;                         // its operands are there
    std::array<WarpMask, gpu::kUnits> wants{};  // by unit: warps whose next instruction needs it, ready or not
    WarpMask memory = 0;                        // waiting for a load
    WarpMask barrier = 0;
    WarpMask all = 0;                               // that have not ended
    WarpMask far = 0;                               // asleep for longer than the wheel reaches
    WarpMask fetching = 0;                          // asleep, or last slept, until their code came
    std::uint64_t port = 0;                         // issues its next instruction then
    std::uint64_t now = 0;                          // accounted for up to here
    std::array<std::uint64_t, gpu::kUnits> free{};  // when the unit takes another warp
    std::array<std::uint8_t, 64> kernel{};          // by warp
    Wheel wheel;
    std::array<WarpMask, kMaxKernels> kernels{};  // whose warp it is
    std::array<WarpMask, 64> older{};             // by warp: those that came before it (and some that are gone)
    std::uint32_t active = 0;                     // two-level: first of the group that is active
  };
  struct LoadInfo {
    std::uint16_t warp = 0;
    const TimedOp* op = nullptr;  // none: context on its way
    exec::PendingAtomic* atomic = nullptr;
    std::uint32_t group = 0;  // of a copy
  };

  static constexpr std::uint32_t kMaxSchedulers = 4;
  static constexpr std::uint64_t kPending = ~std::uint64_t{0};
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};  // nobody knows yet when a register can be used
  static constexpr std::uint64_t kEpoch = std::uint64_t{1} << 31;
  static constexpr std::size_t kLoadStore = static_cast<std::size_t>(gpu::Unit::load_store);

  // blocks.cc
  struct Starting {
    std::unique_ptr<BlockRun> run;
    std::uint64_t at = 0;
  };
  void begin_blocks(std::uint64_t now);
  void begin_all(std::uint64_t now);
  void begin_block(std::unique_ptr<BlockRun> run, std::uint64_t at);
  std::unique_ptr<BlockRun> detach(Resident& resident);
  void hand_over(Resident& resident, std::vector<Ended>& to, std::uint64_t at);
  void warp_ended(WarpSlot& w, std::uint64_t now);
  void end_block(Resident& resident, std::uint64_t now);
  void wake_barrier(Resident& resident, std::uint64_t now);
  [[nodiscard]] std::uint64_t barrier_release(std::size_t warps) const;
  void raise(Resident& resident);
  void spend(std::uint8_t slot, std::uint32_t lanes, std::uint64_t now) {
    if (quotas_ != 0 && quota_[slot] != std::numeric_limits<std::int64_t>::max()) spend_quota(slot, lanes, now);
  }
  void spend_quota(std::uint8_t slot, std::uint32_t lanes, std::uint64_t now);

  // sm.cc
  void run_until(std::uint64_t begin, std::uint64_t until);
  void sort_inbox();
  // Times of registers are short numbers, counted from an epoch that follows the clock.
  void begin_epoch(std::uint64_t now);
  [[nodiscard]] std::uint32_t short_time(std::uint64_t at) const { return at == kPending ? kUnknown : known_time(at); }
  [[nodiscard]] std::uint32_t known_time(std::uint64_t at) const { return static_cast<std::uint32_t>(at - epoch_); }
  void deliver(std::uint64_t now);
  void finish_load(std::uint32_t load, std::uint64_t at);
  [[nodiscard]] inline std::uint64_t earliest() const;
  [[nodiscard]] inline std::uint32_t due_at(std::uint64_t now, std::uint32_t first) const;
  // The scheduler that looks first in a cycle.
  [[nodiscard]] std::uint32_t first_at(std::uint64_t now) const;
  void look_at(std::uint64_t now);
  inline void tick(std::uint32_t s, std::uint64_t now);
  void issue_several(Scheduler& s, std::uint32_t number, std::uint64_t now);
  inline void catch_up(Scheduler& s, std::uint64_t now);
  void wake_first(Scheduler& s) {
    const std::uint64_t at = s.wheel.first();
    WarpMask woken = s.wheel.take();
    if ((woken & s.far) != 0) woken = sleep_on(s, woken, at);
    s.ready |= woken;
  }
  WarpMask sleep_on(Scheduler& s, WarpMask woken, std::uint64_t now);
  inline void go_on(Scheduler& s, WarpSlot& w, std::uint32_t number);
  inline std::uint64_t issue_run(Scheduler& s, WarpSlot& w, std::uint64_t at, std::uint64_t end);
  [[nodiscard]] inline bool concerns_nobody(const WarpSlot& w, const TimedOp& op) const;
  [[nodiscard]] inline std::uint64_t alone_until(const Scheduler& s) const;
  [[nodiscard]] inline std::uint64_t others_due(Scheduler& s, std::uint32_t number, gpu::Unit unit,
                                                std::uint64_t now) const;
  [[nodiscard]] static inline std::uint32_t last_operand(const WarpSlot& w, const TimedOp& op);
  void due_from(std::uint32_t scheduler, std::size_t unit, std::uint64_t at) {
    std::uint64_t& due = unit == kLoadStore ? lsu_due_[scheduler] : due_[scheduler];
    due = std::min(due, at);
  }
  // The next instruction of `w` needs that unit.
  static void want(Scheduler& s, WarpSlot& w, gpu::Unit unit) {
    if (w.unit == unit) return;
    const auto old = static_cast<std::size_t>(w.unit);
    const auto now = static_cast<std::size_t>(unit);
    s.wants[old] &= ~w.bit;
    if (s.wants[old] == 0) s.units &= ~(1U << old);
    s.wants[now] |= w.bit;
    s.units |= 1U << now;
    w.unit = unit;
  }
  inline void sleep(Scheduler& s, WarpSlot& w, std::uint64_t now);
  void leave(std::uint32_t warp);
  [[nodiscard]] inline WarpMask eligible(const Scheduler& s, std::uint64_t now) const;
  [[nodiscard]] WarpMask gated(const Scheduler& s) const;
  [[nodiscard]] std::uint64_t unit_free(const Scheduler& s, std::size_t unit) const {
    return unit == kLoadStore ? std::max(s.free[unit], lsu_open_) : s.free[unit];
  }
  // After whatever may change when the load/store unit takes another instruction.
  void look_at_lsu() { lsu_open_ = lsu_.blocked() ? kPending : std::max(lsu_taken_, lsu_.free_at()); }
  inline void set_due(Scheduler& s, std::uint32_t number, std::uint64_t now);

  // issue.cc
  inline void issue(Scheduler& s, WarpSlot& w, std::uint64_t now);
  void issue_now(Scheduler& s, WarpSlot& w, std::uint64_t now);
  inline void issue_executed(Scheduler& s, WarpSlot& w, std::uint64_t now);
  inline void take_unit(Scheduler& s, const TimedOp& op, std::uint64_t now);
  void set_written(WarpSlot& w, const TimedOp& op, std::uint32_t usable) const {
    const std::uint32_t* written = w.registers + op.first_register + op.reads;
    for (std::uint32_t i = 0; i < op.writes; ++i) w.ready[written[i]] = usable;
  }
  void prepare(WarpSlot& w, std::uint64_t now, std::uint64_t not_before);
  inline void prepare_next(Scheduler& s, WarpSlot& w, std::uint64_t now, std::uint64_t not_before);
  bool fold(WarpSlot& w, const TimedOp& op, std::uint64_t now);
  std::uint64_t memory_access(WarpSlot& w, const TimedOp& op, const exec::Step& step, std::uint64_t now);
  // copies.cc: groups of asynchronous copies
  std::uint32_t issue_copy(WarpSlot& w, const Lsu::Issued& issued);
  static void commit_copies(WarpSlot& w, std::uint64_t now);
  static void finish_copy(WarpSlot& w, std::uint32_t group, std::uint64_t at);
  // Whether the warp must wait before `op` for what is on its way; else `at` is when what it waits for is there.
  [[nodiscard]] static bool waits(const WarpSlot& w, const TimedOp& op, std::uint64_t& at);
  // Atomics on their way: what accesses the same lines waits for them.
  [[nodiscard]] bool behind_atomic(WarpSlot& w);
  void track_atomic(const exec::PendingAtomic& atomic, int by);
  std::uint64_t fetch(WarpSlot& w, const TimedOp& op, std::uint64_t now);
  // How often each operation of a kernel was executed, and by how many lanes, since it was last counted: in the upper
  // and the lower half of a word, the operations that took an issue slot apart. What else is counted for each
  // instruction follows from it.
  struct Tally {
    const TimedProgram* program = nullptr;
    std::vector<std::uint64_t> executed;  // by operation: [2 pc] folded, [2 pc + 1] issued
    std::uint64_t counted = 0;            // cycle; a half must not overflow
  };
  void begin_tally(std::uint8_t slot, const TimedProgram& program);
  void count_tally(std::uint8_t slot);
  void count(const WarpSlot& w, std::uint32_t pc, std::uint32_t lanes, bool issued) {
    counters_[w.kernel].thread_instructions += lanes;
    tallies_[w.kernel].executed[2 * std::size_t{pc} + (issued ? 1 : 0)] += std::uint64_t{1} << 32 | lanes;
  }

  [[nodiscard]] inline std::uint32_t pick(Scheduler& s, WarpMask eligible) const;
  void charge(Scheduler& s, std::uint64_t cycles);
  // Brings masks and stalls up to `until`: warps that wake before it are awake.
  void account(Scheduler& s, std::uint64_t until) {
    while (s.wheel.first() < until) {
      charge_cycles(s, s.wheel.first());
      wake_first(s);
    }
    charge_cycles(s, until);
  }
  void charge_cycles(Scheduler& s, std::uint64_t until) {
    if (until <= s.now) return;
    const std::uint64_t cycles = until - s.now;
    s.now = until;
    if (s.all != 0) charge(s, cycles);
  }

  [[nodiscard]] std::uint32_t slot_of(std::uint32_t scheduler, std::uint32_t index) const {
    return index * schedulers_count_ + scheduler;
  }
  [[nodiscard]] std::uint32_t number_of(const WarpSlot& w) const {
    return static_cast<std::uint32_t>(&w - warps_.data());
  }
  Scheduler& scheduler_of(std::uint32_t warp) { return schedulers_[warps_[warp].scheduler]; }
  [[nodiscard]] WarpMask bit_of(std::uint32_t warp) const { return warps_[warp].bit; }

  const gpu::GpuConfig& config_;
  std::uint32_t index_;
  std::uint32_t schedulers_count_;
  std::uint32_t issue_width_;
  bool greedy_;  // a scheduler stays with its warp, and issues one instruction a cycle
  Lsu lsu_;
  Tags icache_;
  Tags constant_cache_;
  // By scheduler: has nothing to do before; for the load/store unit, which all share, apart: whoever wants it is not
  // looked at while others have it.
  std::array<std::uint64_t, kMaxSchedulers> due_;
  std::array<std::uint64_t, kMaxSchedulers> lsu_due_;
  std::uint64_t lsu_open_ = 0;                 // the load/store unit takes another instruction, of whomever
  std::uint64_t lsu_taken_ = 0;                // until then, where an SM has one of it
  std::uint64_t arrives_ = ~std::uint64_t{0};  // the next reply
  std::array<Scheduler, kMaxSchedulers> schedulers_;
  std::uint32_t sm_units_ = 0;  // bit: a unit an SM has one of; all its schedulers have the same `free` for it
  std::vector<WarpSlot> warps_;
  std::vector<std::unique_ptr<Resident>> residents_;
  std::vector<std::unique_ptr<Resident>> spare_;
  std::vector<Starting> starting_;
  std::uint64_t starts_ = ~std::uint64_t{0};  // the first of them
  std::vector<Offer> offers_;
  std::uint32_t grain_;          // cycles between two parts of what is moved
  std::uint32_t follows_after_;  // cycles from a block's end to the start of one in its place
  std::array<std::uint64_t, kMaxKernels> last_{};
  std::array<std::uint32_t, kMaxKernels> resident_{};
  std::uint32_t kernels_ = 0;  // that have blocks here
  std::uint64_t until_ = 0;    // the quantum ends
  std::uint32_t free_warps_ = 0;
  std::uint64_t ages_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint32_t place_ = 0;  // where the search for free warp slots begins
  std::vector<LoadInfo> load_info_;
  std::vector<Message> inbox_;
  std::size_t inbox_head_ = 0;
  bool unsorted_ = false;  // the inbox
  std::vector<std::uint32_t> done_loads_;
  std::vector<Ended> ended_;
  std::vector<Ended> stopped_;
  std::vector<Faulted> faulted_;
  std::array<SmCounters, kMaxKernels> counters_{};
  std::array<Tally, kMaxKernels> tallies_;
  std::array<std::int64_t, kMaxKernels> quota_;
  std::uint32_t quotas_ = 0;        // bit: kernel slot that has one
  std::uint32_t quotas_spent_ = 0;  // the same, and it is spent
  std::uint32_t newly_spent_ = 0;
  std::vector<std::uint32_t> moved_;
  std::uint64_t next_ = ~std::uint64_t{0};
  Coalesced coalesced_;
  exec::GlobalPort port_;
  std::uint32_t atomics_ = 0;                      // on their way
  std::array<std::uint16_t, 256> atomic_lines_{};  // by a hash of the line: how many lanes
  std::vector<std::uint16_t> behind_;              // warps that wait for an atomic
  exec::Access peeked_;
};

}  // namespace wm::sim
