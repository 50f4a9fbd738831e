// Machine: the views of a GPU that a policy reads and the actions that it may take. The cycle simulator, the block
// simulator and the device runtime implement it; a policy never learns which one it drives.
//
// A policy sees views: spans over the machine's own tables, valid while it handles one event. An action shows
// in them at once; its effect on running blocks may take time, and the machine says when it is done (SmReady,
// Preempted). All events of one instant reach the policy before any block is dispatched, so a kernel that ends and is
// launched again in the same cycle costs no repartition.
//
// A kernel here is one client's queue: a client runs its launches in order, one at a time, under one KernelId. Streams
// that may overlap are several clients. Rates are thread instructions per SM clock cycle ("ipc"), as the papers count.
//
// Placement of blocks: on an owned SM only blocks of the owner start, on a shared SM blocks of any kernel. On both a
// kernel has at most as many blocks as its cap. Where several kernels could start a block, the first in `order` does;
// preempted blocks resume before new ones start. An SM is shared and uncapped until a policy says otherwise, and the
// order is that of arrival.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <span>

#include "base/random.h"
#include "base/units.h"
#include "gpu/occupancy.h"
#include "policy/can.h"

namespace wm::policy {

struct SmId {
  std::uint32_t index = 0;
  friend constexpr auto operator<=>(const SmId&, const SmId&) = default;
};

struct KernelId {
  std::uint32_t index = ~std::uint32_t{0};
  friend constexpr auto operator<=>(const KernelId&, const KernelId&) = default;
};
inline constexpr KernelId kNoKernel{};

inline constexpr std::uint32_t kNoCap = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int64_t kNoQuota = std::numeric_limits<std::int64_t>::max();

// The way in which blocks of other kernels leave an SM: they run to their end, or their context is saved and they
// resume later.
enum class Preempt { drain, switch_context };

struct Sm {
  enum class State {
    on,        // blocks run; those of `owner` may start
    reserved,  // blocks of others leave; then `next` owns it. No block starts meanwhile
    gating,    // blocks leave; then it is switched off
    off,
    waking  // on its way to `on`
  };

  SmId id;
  std::uint32_t index = 0;  // its place in sms(); equals id.index
  State state = State::on;
  KernelId owner = kNoKernel;  // kNoKernel: shared
  KernelId next = kNoKernel;   // while reserved
  gpu::Resources free;
  std::uint32_t resident = 0;  // blocks, including those that are leaving
  std::uint32_t leaving = 0;   // blocks among these whose context is being saved
};

// The client's current launch, and its progress over all of its launches.
struct Kernel {
  KernelId id;
  std::uint32_t process = 0;       // equal numbers: kernels of one process, which may be several clients
  std::uint32_t function = 0;      // equal numbers of one client: the same code, grid and block
  std::uint32_t launch = 0;        // launches of this client before this one
  int priority = 0;                // larger goes first
  double share = 1;                // relative weight
  double goal = 0;                 // ipc to reach over its life; 0: none
  double isolated_ipc = 0;         // ipc in isolation on this GPU; 0: not known
  Cycles first_arrived;            // arrival of the client
  Cycles arrived;                  // arrival of this launch
  std::uint64_t instructions = 0;  // thread instructions of all its launches
  std::uint32_t warps_per_block = 0;
  gpu::Resources footprint;             // needs of one block
  std::uint32_t max_blocks_per_sm = 0;  // blocks that an empty SM holds
  std::uint32_t blocks = 0;             // blocks of this launch …
  std::uint32_t done = 0;               // … which ended
  std::uint32_t resident = 0;           // … which are on SMs
  std::uint32_t waiting = 0;            // … which are not: never started, or preempted

  [[nodiscard]] bool has_goal() const { return goal > 0; }
  // The mean rate since its first launch arrived: the papers' IPC_history. 0 at the first instant.
  [[nodiscard]] double history(Cycles now) const {
    return now > first_arrived ? static_cast<double>(instructions) / static_cast<double>((now - first_arrived).count)
                               : 0;
  }
};

// The counters of one kernel on one SM since the epoch began. A machine that cannot count an event reports 0 and does
// not publish the capability.
struct Counters {
  std::uint64_t thread_instructions = 0;  // Can::count_instructions
  std::uint64_t warp_instructions = 0;
  double idle_warps = 0;  // Can::sample_warps: warps ready but not issued, mean over the epoch's samples
  std::uint64_t memory_stall_cycles = 0;  // Can::sample_stalls: SM cycles without an issue because of memory
  std::uint64_t lsu_blocked_cycles = 0;   // Can::sample_stalls: SM cycles in which memory held up the load/store unit
  std::uint64_t l2_accesses = 0;          // Can::count_traffic
  std::uint64_t l2_misses = 0;
  std::uint64_t dram_bytes = 0;  // loads and stores that L2 did not have
};

// One kernel on one SM.
struct ResidentKernel {
  std::uint32_t resident = 0;  // its blocks there, including those that are leaving
  std::uint32_t leaving = 0;   // blocks among these that are being switched out
  std::uint32_t cap = kNoCap;
  std::int64_t quota = kNoQuota;  // thread instructions left; spent when 0 or less
  Counters counters;
};

class Machine {
 public:
  virtual ~Machine() = default;

  // --- views
  [[nodiscard]] virtual Cans cans() const = 0;
  [[nodiscard]] virtual Cycles now() const = 0;
  [[nodiscard]] virtual const gpu::SmLimits& limits() const = 0;
  [[nodiscard]] virtual std::span<const Sm> sms() const = 0;
  // Kernels with a launch that has arrived and is not done, oldest arrival first.
  [[nodiscard]] virtual std::span<const Kernel> kernels() const = 0;
  // One entry for every client seen so far, by KernelId::index.
  [[nodiscard]] virtual std::span<const ResidentKernel> residents(SmId sm) const = 0;
  [[nodiscard]] virtual Cycles epoch_began() const = 0;
  // The most bytes that DRAM can move per SM cycle, for all SMs together; 0: not known.
  [[nodiscard]] virtual double dram_bytes_per_cycle() const { return 0; }
  // Random numbers of this run; the machine's seed decides them.
  virtual Random& random() = 0;

  // --- actions
  // Makes `kernel` the SM's owner. Blocks of others leave as `how` says; the SM is reserved until they have, then
  // SmReady comes. An SM without such blocks changes its owner at once, without an event. A reserved SM given again
  // changes its `next` only; given back to its owner, it stays. A gated SM wakes first. Can::own_sms, and Can::drain or
  // Can::switch_context.
  virtual void give(SmId sm, KernelId kernel, Preempt how) = 0;
  // Makes the SM shared: it has no owner. A gated SM wakes first. Can::own_sms.
  virtual void share(SmId sm) = 0;
  // At most `blocks` of the kernel on the SM from now on. Those above it run to their end. Can::cap_blocks.
  virtual void cap(SmId sm, KernelId kernel, std::uint32_t blocks) = 0;
  // Switches `blocks` of the kernel out of the SM; Preempted comes when they have left. Can::switch_some.
  virtual void preempt(SmId sm, KernelId kernel, std::uint32_t blocks) = 0;
  // The kernel may complete that many thread instructions on the SM, then QuotaSpent comes and it issues no more there
  // until it is given more. Instructions in flight then take it below 0. kNoQuota lifts the limit. Can::quotas.
  virtual void set_quota(SmId sm, KernelId kernel, std::int64_t instructions) = 0;
  virtual void add_quota(SmId sm, KernelId kernel, std::int64_t instructions) = 0;
  // Starts no more blocks on the SM and switches it off once it is empty. It has no owner then. Can::gate_power.
  virtual void gate(SmId sm) = 0;
  // Kernels named earlier start their blocks first; those not named follow in order of arrival. Can::order_launches.
  virtual void order(std::span<const KernelId> first) = 0;
  // Begins an epoch now: counters are cleared; Epoch comes when it ends, and every `length` after that. 0: no epochs.
  virtual void set_epoch(Cycles length) = 0;
  // Wake comes at `when`, once, with `tag`. A time that is not in the future means this instant, after its other
  // events.
  virtual void wake_at(Cycles when, std::uint64_t tag) = 0;

  // --- derived views
  [[nodiscard]] bool can(Can what) const { return cans().has(what); }
  // The kernel's view, or nullptr when it has no active launch.
  [[nodiscard]] const Kernel* find(KernelId id) const;
  [[nodiscard]] Cycles epoch_length() const { return now() - epoch_began(); }
  // Thread instructions of the kernel since the epoch began, over all SMs; and per cycle (the papers' IPC_epoch).
  [[nodiscard]] std::uint64_t epoch_instructions(KernelId id) const;
  [[nodiscard]] double epoch_ipc(KernelId id) const;
  // SMs the kernel owns, or will own when those leaving have left.
  [[nodiscard]] std::uint32_t owned(KernelId id) const;
};

// The kernel whose blocks will start on the SM once it is ready.
[[nodiscard]] constexpr KernelId eventual_owner(const Sm& sm) {
  return sm.state == Sm::State::reserved ? sm.next : sm.owner;
}
[[nodiscard]] constexpr bool powered(const Sm& sm) {
  return sm.state != Sm::State::off && sm.state != Sm::State::gating;
}

// The kernel has no block on the SM and will start none in the current state.
[[nodiscard]] constexpr bool absent(const Kernel& k, const ResidentKernel& on) {
  return on.resident == 0 && (k.waiting == 0 || on.cap == 0);
}

}  // namespace wm::policy
