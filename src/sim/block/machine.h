// The block-grain Machine: thread blocks of known duration on SMs, under a policy that acts through policy::Machine.
//
// Nothing below a block is modelled, so seconds of GPU time pass in seconds. The execution engine is that of "Enabling
// Preemptive Multiprogramming on GPUs" (ISCA 2014, section 3): SM and kernel status tables, preempted thread block
// queues, SM setup, draining, and context switches that take as long as the contexts in use take at an SM's share of
// memory bandwidth. It has all capabilities except instruction quotas and counters below a block (idle warps, stalls,
// traffic).
//
// Time is in SM cycles and moves from event to event. The owner of the machine moves it:
//
//   machine.advance(t);                          // t is at most next_event(): blocks end, the policy is told
//   for (client : machine.completed()) …         // launches that ended at t; the next may be launched at once
//   machine.launch(client, model);
//   machine.settle();                            // the policy decides, blocks start
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "gpu/gpu_config.h"
#include "policy/machine.h"
#include "policy/policy.h"
#include "sim/block/block_waves.h"
#include "sim/block/kernel_table.h"
#include "sim/block/observer.h"
#include "sim/block/sm_table.h"
#include "sim/block/timers.h"
#include "sim/block/touched_sms.h"

namespace wm::sim {

struct BlockMachineSpec {
  std::uint32_t sms = 1;
  gpu::SmLimits limits = {};
  Hertz clock{1'000'000'000};
  std::uint64_t bytes_per_second = 0;  // memory bandwidth; an SM's contexts move at its equal share
  Cycles decision = {};                // from a policy's action to its effect on an SM
  Cycles setup = {};                   // time to prepare an empty SM for a launch, before its first block works
  Cycles launch_latency = {};          // from a launch's arrival until its blocks may work
  Cycles wake = {};                    // time to wake a gated SM
  bool fill_sms = true;                // blocks fill one SM after the other (section 3.2), or go to all SMs in turn
  std::uint64_t seed = 1;
};

// A GPU's SMs, clock and memory bandwidth. The decision takes as many cycles as there are SMs (section 3.4).
BlockMachineSpec block_machine_spec(const gpu::GpuConfig& gpu);

class BlockMachine final : public policy::Machine {
 public:
  explicit BlockMachine(const BlockMachineSpec& spec);

  static constexpr policy::Cans kCans = {
      policy::Can::own_sms,    policy::Can::drain,      policy::Can::switch_context, policy::Can::switch_some,
      policy::Can::cap_blocks, policy::Can::gate_power, policy::Can::order_launches, policy::Can::count_instructions,
      policy::Can::see_blocks};

  // Sets the policy, before any other call; it must outlive the machine's use. `declared` are the capabilities it
  // needs or uses: one that does not declare see_blocks is not told of blocks that end.
  void start(policy::Policy& policy, policy::Cans declared);
  void observe(BlockObserver& observer) { observer_ = &observer; }
  policy::KernelId add_client(BlockClientSpec spec);
  // The facts that the policy sees of the client's launches that follow.
  void set_spec(policy::KernelId client, BlockClientSpec spec) { kernels_.set_spec(client, std::move(spec)); }

  // The cycle of the next event; kNever: nothing will happen by itself.
  [[nodiscard]] Cycles next_event() const;
  void advance(Cycles to);
  // Clients whose launch ended in this instant.
  [[nodiscard]] std::span<const policy::KernelId> completed() const { return completed_; }
  // The client's next launch arrives now. The model must outlive it.
  void launch(policy::KernelId client, const KernelModel& model);
  void settle();
  // Advances over blocks that end and are followed by others, as long as nothing else happens, up to `limit`. The
  // policy is not told of these blocks. The results are the same as without the call.
  void run_ahead(Cycles limit);

  [[nodiscard]] const BlockClientTotals& totals(policy::KernelId client) const { return kernels_.totals(client.index); }
  // Cycles SMs were switched off, summed over SMs.
  [[nodiscard]] std::uint64_t gated_cycles();

  // --- policy::Machine
  [[nodiscard]] policy::Cans cans() const override { return kCans; }
  [[nodiscard]] Cycles now() const override { return now_; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return spec_.limits; }
  [[nodiscard]] std::span<const policy::Sm> sms() const override { return sms_.views(); }
  [[nodiscard]] std::span<const policy::Kernel> kernels() const override { return kernels_.active(); }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(policy::SmId sm) const override {
    return sms_.residents(sm.index);
  }
  [[nodiscard]] Cycles epoch_began() const override { return timers_.epoch_began(); }
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
  void wake_at(Cycles when, std::uint64_t tag) override { timers_.wake_at(when, tag); }

 private:
  void reschedule(std::uint32_t sm);
  void find_simple_ends(std::uint32_t sm, std::uint64_t at);
  void collect_quiet();
  void collect(std::uint32_t sm);
  void collect_left(std::uint32_t sm);
  void collect_ended(std::uint32_t sm);
  void change_state(std::uint32_t sm);
  void run_timers();

  void place();
  bool tell_idle();
  [[nodiscard]] policy::Kernel* next_for(std::uint32_t sm);
  [[nodiscard]] bool may_start(std::uint32_t sm, const policy::Kernel& kernel);
  void start_blocks(std::uint32_t sm, policy::Kernel& kernel);
  void stop_blocks(std::uint32_t sm, std::uint32_t client, std::uint32_t count, bool asked);
  void wake(std::uint32_t sm);
  [[nodiscard]] bool only_blocks_change(std::uint64_t at);
  bool replace_waves(std::uint64_t stop);
  void end_replacing(std::uint32_t client);
  bool replace_ended(std::uint32_t sm, std::uint64_t at);
  [[nodiscard]] bool has_blocks_for(std::uint32_t client, std::uint32_t sms) {
    const policy::Kernel& k = *kernels_.view(client);
    return k.waiting >= sms * k.max_blocks_per_sm;
  }
  void touch(std::uint32_t sm) { touched_.add(sm); }

  BlockMachineSpec spec_;
  Cycles now_;
  Random random_;
  policy::Policy* policy_ = nullptr;
  BlockObserver* observer_ = nullptr;
  KernelTable kernels_;
  SmTable sms_;
  Timers timers_;
  BlockWaves waves_;
  std::vector<policy::KernelId> order_;
  std::vector<policy::KernelId> completed_;
  std::vector<std::uint32_t> ended_;         // clients of the blocks that ended on one SM in this instant
  std::vector<std::uint32_t> simultaneous_;  // SMs with an event in the same cycle
  TouchedSms touched_;
  std::vector<std::uint32_t> candidates_;  // SMs among these, while the policy is told which are idle
  std::uint32_t quiet_sms_ = 0;
  bool sees_blocks_ = true;   // the policy is told of blocks that end
  bool set_changed_ = false;  // launches came or went since the policy was last told
};

}  // namespace wm::sim
