// The cycle-level Machine: clients' launches on a Chip, under a policy that sees and acts through policy::Machine.
//
// Events reach the policy between quanta of the chip (chip.h), blocks are placed there too. A quantum is one round
// trip to L2, or one way over the interconnect while a policy may wait for an event (`quantum`). This machine has all
// capabilities of policy::Machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "policy/machine.h"
#include "policy/policy.h"
#include "sim/cycle/alarms.h"
#include "sim/cycle/chip.h"
#include "sim/cycle/client.h"
#include "sim/cycle/client_run.h"
#include "sim/cycle/epoch_timer.h"
#include "sim/cycle/observer.h"
#include "sim/cycle/power/gating.h"

namespace wm::sim {

struct RunLimits {
  std::uint64_t cycles = ~std::uint64_t{0};  // the run ends at this cycle
  std::vector<std::uint64_t> instructions;   // by client: it stops when it has executed so many; 0: no limit
  std::uint64_t stuck_after = 50'000'000;    // cycles without an instruction after which the run is reported as stuck
};

// A client's totals at the end of a run.
struct ClientTotals {
  SmCounters sm;
  PartitionCounters memory;
  std::uint64_t cycles = 0;  // from its arrival to its end, or the run's
  std::uint64_t blocks = 0;
  std::uint64_t launches = 0;
  std::uint64_t preemptions = 0;
  bool finished = false;  // it ended by itself, before the end of the run and its limit of instructions
  std::optional<std::string> fault;
  exec::Fault::Kind fault_kind{};
};

class CycleMachine final : public policy::Machine {
 public:
  static Result<std::unique_ptr<CycleMachine>> make(const gpu::GpuConfig& config, std::uint32_t threads,
                                                    std::uint64_t seed);

  // A client may be added while the machine runs; it arrives at its time, or now if that has passed.
  Result<void> add(ClientSpec spec);
  // The client's source has a launch again; it arrives now, or later at `when`.
  void resume(std::uint32_t client) { clients_[client]->arrive(now()); }
  void resume(std::uint32_t client, Cycles when) { clients_[client]->arrive(std::max(when, now())); }
  // Stops the client's launch: its blocks leave their SMs and are dropped. It is over some steps later.
  void abandon(std::uint32_t client);
  // Whether no launch of the client is on the machine or will arrive.
  [[nodiscard]] bool is_over(std::uint32_t client) const;
  // A client that faulted or was abandoned, and is over, accepts launches of its source again.
  void restart(std::uint32_t client);
  // The client's launches from now on are those of another program: it arrives with its next one, without progress.
  void renew(std::uint32_t client);
  // Watches the run; it must outlive it.
  void observe(Observer& observer) { observer_ = &observer; }
  // Runs until every client is done or a limit is reached.
  Result<void> run(policy::Policy& policy, const RunLimits& limits);
  // The same in single steps: `begin`, then one quantum per `step`. False: every client is done or waits
  // for its source, or the limit on cycles is reached.
  void begin(policy::Policy& policy, const RunLimits& limits);
  Result<bool> step(policy::Policy& policy, const RunLimits& limits);
  // The two parts of a step. `collect` reports the events of the last quantum to the policy; a launch that is given to
  // a client before `proceed` arrives in the same instant, so that the policy sees the kernels after both.
  Result<void> collect(policy::Policy& policy);
  Result<bool> proceed(policy::Policy& policy, const RunLimits& limits);

  [[nodiscard]] ClientTotals totals(std::uint32_t client) const;
  [[nodiscard]] bool has_failed(std::uint32_t client) const { return client_runs_[client].fault.has_value(); }
  // Cycles SMs were switched off, summed over SMs.
  [[nodiscard]] std::uint64_t gated_cycles() const { return gating_.off_cycles(chip_.now()); }
  [[nodiscard]] Client& client(std::uint32_t i) { return *clients_[i]; }
  [[nodiscard]] std::uint32_t clients() const { return static_cast<std::uint32_t>(clients_.size()); }

  // --- policy::Machine
  [[nodiscard]] policy::Cans cans() const override { return policy::Cans::all(); }
  [[nodiscard]] Cycles now() const override { return Cycles{chip_.now()}; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return limits_; }
  [[nodiscard]] std::span<const policy::Sm> sms() const override { return sms_; }
  [[nodiscard]] std::span<const policy::Kernel> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(policy::SmId sm) const override;
  [[nodiscard]] Cycles epoch_began() const override { return Cycles{epoch_.began()}; }
  [[nodiscard]] double dram_bytes_per_cycle() const override {
    return config_.dram.peak_bytes_per_second() / (config_.sm.clock_mhz * 1e6);
  }
  Random& random() override { return random_; }
  void give(policy::SmId sm, policy::KernelId kernel, policy::Preempt how) override;
  void share(policy::SmId sm) override;
  void cap(policy::SmId sm, policy::KernelId kernel, std::uint32_t blocks) override;
  void preempt(policy::SmId sm, policy::KernelId kernel, std::uint32_t blocks) override;
  void set_quota(policy::SmId sm, policy::KernelId kernel, std::int64_t instructions) override;
  void add_quota(policy::SmId sm, policy::KernelId kernel, std::int64_t instructions) override;
  void gate(policy::SmId sm) override;
  void order(std::span<const policy::KernelId> first) override;
  void set_epoch(Cycles length) override;
  void wake_at(Cycles when, std::uint64_t tag) override;

 private:
  CycleMachine(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t threads, std::uint64_t seed);

  // A block whose context is being saved or restored.
  struct Moving {
    std::unique_ptr<BlockRun> run;
    std::uint32_t sm = 0;
    std::uint32_t token = 0;  // token of the SM's move
    bool out = true;
    bool recalled = false;  // preempted again while its context was being restored: it must not start
  };

  struct Placing {
    std::uint32_t first_sm = 0;           // where placing begins, so that no SM is always first
    bool offered = false;                 // SMs have offers of blocks that may follow others
    std::vector<std::uint32_t> followed;  // storage for offer_blocks
  };

  // machine.cc
  policy::Kernel* view(std::uint32_t client);
  void refresh(std::uint32_t sm) const;
  void begin_epoch();
  void stop_blocks(std::uint32_t sm, std::uint32_t client, std::uint32_t count, bool asked);
  void wake(std::uint32_t sm);

  // dispatch/arrive.cc: arrival and end of launches
  Result<void> arrivals(policy::Policy& policy);
  Result<void> launch_next(std::uint32_t client, policy::Policy& policy);
  Result<void> launch_done(std::uint32_t client, policy::Policy& policy);
  void end_client(std::uint32_t client);
  void cut_off(std::uint32_t client);
  void drop(std::uint32_t sm, std::unique_ptr<BlockRun> run);
  [[nodiscard]] std::uint64_t instructions(std::uint32_t client) const;
  // Thread instructions of the program that uses the client now.
  [[nodiscard]] std::uint64_t progress(std::uint32_t client) const {
    return instructions(client) - client_runs_[client].instructions_before;
  }

  // dispatch/collect.cc: the events of a quantum, reported to the policy (`collect`)
  void collect_blocks(std::uint32_t sm, policy::Policy& policy);
  [[nodiscard]] bool has_late_followers(std::uint32_t sm);
  Result<void> collect_launches(policy::Policy& policy);
  void collect_stopped(std::uint32_t sm);
  void collect_moved(std::uint32_t sm, policy::Policy& policy);
  void collect_faults(std::uint32_t sm);
  void left(std::uint32_t sm, std::uint32_t client);
  void settle(std::uint32_t sm, policy::Policy& policy);
  void timers(policy::Policy& policy);
  void sample_idle_warps();
  void check_instruction_limits();
  Result<void> check_progress(const RunLimits& limits);

  // dispatch/place.cc: placement of blocks on SMs
  void place();
  bool tell_idle(policy::Policy& policy);
  bool place_one(std::uint32_t sm, std::uint64_t at);
  // The kernel whose block the SM gets next, where one of `leaving` goes first; nullptr: none.
  policy::Kernel* next_for(std::uint32_t sm, const policy::Kernel* leaving);
  void offer_blocks();
  void find_followed(const policy::Kernel& k, std::vector<std::uint32_t>& sms);
  void take_back_offers();
  void start_block(std::uint32_t sm, policy::Kernel& kernel, std::uint64_t at);
  void enter(std::uint32_t sm, policy::Kernel& kernel);
  [[nodiscard]] LineAddress context_place(const BlockRun& run) const;

  [[nodiscard]] std::uint64_t next_deadline() const;
  [[nodiscard]] bool all_clients_rest() const;
  // The length of the next quantum.
  [[nodiscard]] std::uint64_t quantum(std::uint64_t deadline) const;
  [[nodiscard]] bool needs_short_quantum() const;
  [[nodiscard]] SeenBlock seen(std::uint32_t sm, std::uint32_t client, std::uint64_t number) const;

  gpu::GpuConfig config_;
  Chip chip_;
  gpu::SmLimits limits_;
  Random random_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<ClientRun> client_runs_;
  std::vector<policy::Sm> sms_;
  std::vector<policy::Kernel> kernels_;
  std::vector<policy::KernelId> order_;
  mutable std::vector<std::vector<policy::ResidentKernel>> residents_;  // by SM, by client
  mutable std::vector<std::uint64_t> refreshed_;     // by SM: time of the last update of its counters
  std::vector<std::vector<SmCounters>> epoch_base_;  // by SM, by client
  std::vector<std::vector<std::uint32_t>> asked_;    // by SM, by client: blocks preempt() asked for, still leaving
  std::vector<std::unique_ptr<BlockRun>> spare_runs_;
  std::vector<Moving> moving_;
  Alarms alarms_;
  EpochTimer epoch_;
  PowerGating gating_;
  std::vector<bool> idle_told_;      // by SM: the policy was told SmIdle, or the SM is not idle
  std::uint64_t last_progress_ = 0;  // cycle of the last check, and the instructions executed by then
  std::uint64_t progress_ = 0;
  Placing placing_;
  bool kernel_set_changed_ = false;  // launches came or went since the policy was last told
  bool dirty_ = true;                // something changed that may let blocks start
  Observer* observer_ = nullptr;
};

}  // namespace wm::sim
