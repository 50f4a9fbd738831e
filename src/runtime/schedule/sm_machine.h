// A GPU whose workers know on which SM they run, as a Machine with an entry for every SM.
//
// A rewritten kernel runs as workers, each on one SM, and leaves an SM at the end of a group when its limit there
// falls. So kernels own SMs, are drained from them and have caps on each. A group of a launch counts as some
// instructions, so a quota is a number of groups that may begin on an SM; groups that begin unobserved after
// `set_quota` was called count too. A kernel that was not rewritten has no quotas.
//
// The driver places workers itself. Their limit on an SM is what the kernel may have there, not what the machine
// expects, and `observe` corrects what it expects with what the workers counted. Workers on an SM where the kernel may
// have no more leave at once, so a kernel that is restricted to some SMs starts as many as would fill all; where too
// few stayed, others are started after `kRetry`. A kernel that was not rewritten runs undivided on all SMs, as soon as
// it may run on one of them; so does a rewritten kernel whose launches keep their caps undivided (undivided_caps.h).
#pragma once

#include <map>
#include <utility>

#include "runtime/schedule/runtime_machine.h"

namespace wm::runtime {

class SmMachine final : public RuntimeMachine {
 public:
  // `limits`: those of one SM.
  SmMachine(const gpu::SmLimits& limits, std::uint32_t sms, std::uint64_t seed);

  static policy::Cans capabilities() {
    return {policy::Can::own_sms,
            policy::Can::drain,
            policy::Can::cap_blocks,
            policy::Can::order_launches,
            policy::Can::count_instructions,
            policy::Can::quotas};
  }
  static constexpr Cycles kRetry{200'000};
  // More workers are started for a launch that has groups for so many rounds of those that run.
  static constexpr std::uint32_t kRounds = 2;
  // Between two launches of a stream an SM has few workers for some microseconds. A policy that divided quotas or SMs
  // by what it saw then would go wrong, so workers that are missing count only in launches that are older than this.
  static constexpr Cycles kStarting{200'000};

  // --- called by the runtime
  // By SM, as the workers of a stream counted them: the workers, the groups that are complete, and those that began
  // under a quota. Numbers of groups go on from launch to launch, and wrap.
  struct Observed {
    std::span<const std::uint32_t> workers, done, begun;
    std::optional<std::uint32_t> untaken = std::nullopt;  // groups of this launch that no worker has taken, where known
    bool some_not_placed = false;                         // the driver has workers of this launch that wait for room
  };
  void observe(policy::KernelId kernel, const Observed& observed);
  // True once for an id that is new for its stream: its counts begin at zero.
  [[nodiscard]] bool begin_counts(policy::KernelId kernel) {
    return !std::exchange(places_[kernel.index].has_counts, true);
  }
  // True once after limits or quotas have changed.
  [[nodiscard]] bool take_untold(policy::KernelId kernel) { return std::exchange(places_[kernel.index].untold, false); }
  // All workers of the kernel have left although it has groups, some of which may have completed unobserved.
  void all_left(policy::KernelId kernel);
  // The limits of the kernel's workers by SM, as `dispatch` decided them.
  [[nodiscard]] std::span<const std::uint32_t> worker_limits(policy::KernelId kernel) const {
    return places_[kernel.index].limits;
  }
  // 1 + the groups of the launch that may begin, by SM; 0: any number.
  [[nodiscard]] std::span<const std::uint32_t> quotas(policy::KernelId kernel) const {
    return places_[kernel.index].quotas;
  }
  // Whether an SM waits for workers of the kernel to leave, expects more than it has, or has a quota: `observe` is
  // needed.
  [[nodiscard]] bool is_unsettled(policy::KernelId kernel) const;
  using RuntimeMachine::dispatch;
  void left(policy::KernelId, std::uint32_t, std::uint32_t) override {}
  void abandon(policy::KernelId kernel) override;
  [[nodiscard]] std::uint32_t holds(policy::KernelId kernel) const override;
  void give_back(const gpu::Resources& footprint, std::uint32_t groups) override;
  void forget_decisions() override;
  void dispatch(const Start& start, std::uint32_t spare) override;
  [[nodiscard]] bool full() const override { return false; }
  [[nodiscard]] std::uint32_t allowed(policy::KernelId kernel) const override;
  [[nodiscard]] std::uint32_t allowed_per_unit(policy::KernelId kernel, std::uint32_t units) const override;
  void decide_undivided_caps() override;
  [[nodiscard]] std::optional<UndividedCap> undivided_cap(policy::KernelId kernel) const override;
  [[nodiscard]] std::optional<Cycles> next_alarm() const override;
  void deliver_events(policy::Policy& policy) override;
  [[nodiscard]] bool has_events() const override { return !ready_.empty() || !idle_.empty() || !spent_.empty(); }

  // --- Machine
  [[nodiscard]] policy::Cans cans() const override { return capabilities(); }
  [[nodiscard]] std::span<const policy::Sm> sms() const override { return sms_; }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(policy::SmId sm) const override {
    return residents_[sm.index];
  }
  void give(policy::SmId sm, policy::KernelId kernel, policy::Preempt how) override;
  void share(policy::SmId sm) override;
  void cap(policy::SmId sm, policy::KernelId kernel, std::uint32_t blocks) override;
  void set_quota(policy::SmId sm, policy::KernelId kernel, std::int64_t groups) override;
  void add_quota(policy::SmId sm, policy::KernelId kernel, std::int64_t groups) override;

 private:
  // A kernel's workers.
  struct Workers {
    std::vector<std::uint32_t> limits;  // by SM, as they were told
    std::vector<std::uint32_t> done;    // groups complete by SM when last observed
    std::vector<std::uint32_t> begun;   // groups begun under a quota by SM when last observed
    std::vector<std::uint32_t> quotas;  // by SM, as `quotas` returns them
    std::uint32_t done_before = 0;      // groups of the stream's earlier launches that ran as workers
    Cycles retry;                       // no more workers are started before
    bool retries = false;               // … and `dispatch` is due then
    bool has_counts = false;            // workers of the stream count since `begin_counts`
    bool changed = false;               // limits or quotas differ from those of the last `dispatch`
    bool untold = false;                // … and from those of the last `take_untold`
  };
  struct Abandoned {
    gpu::Resources footprint;
    std::vector<std::uint32_t> groups;  // by SM
  };

  void reset(policy::KernelId id) override;
  void occupy_undivided(policy::Kernel& kernel) override;
  void vacate_all(policy::Kernel& kernel) override;
  void clear_counters() override;
  [[nodiscard]] std::uint32_t places(const policy::Kernel& kernel) const override;
  // The kernel's cap where it is the same on all SMs, and nothing else restricts the kernel.
  [[nodiscard]] std::optional<std::uint32_t> uniform_cap(policy::KernelId kernel) const;
  [[nodiscard]] bool may_run(const policy::Sm& sm, policy::KernelId kernel) const;
  void occupy(policy::Sm& sm, policy::Kernel& kernel, std::uint32_t groups);
  void vacate(policy::Sm& sm, policy::Kernel& kernel, std::uint32_t groups);
  // The SM goes to its next owner once no other kernel has groups there.
  void hand_over(policy::Sm& sm);
  // Workers for which the kernel has room on the SM and does not have.
  [[nodiscard]] std::uint32_t workers_missing(const policy::Sm& sm, const policy::Kernel& kernel) const;
  // The workers that the kernel may have on the SM.
  [[nodiscard]] std::uint32_t room_for_workers(const policy::Sm& sm, const policy::Kernel& kernel) const;
  std::uint32_t start_workers(policy::Kernel& kernel);
  // How many workers to submit so that about `wanted` stay, wherever the driver places them.
  [[nodiscard]] std::uint32_t submitted_for(std::uint32_t wanted, const policy::Kernel& kernel);
  void decide_limits(const policy::Kernel& kernel, bool starts_workers);
  // Corrects where the kernel's workers are; the number of workers that were expected and are nowhere.
  std::uint32_t correct_residents(policy::Kernel& kernel, std::span<const std::uint32_t> workers);
  void spend_quota(policy::SmId sm, policy::KernelId kernel, std::uint32_t begun);
  // The rest of the kernel's quota becomes the number of groups that its workers may begin.
  void renew_quota(policy::SmId sm, policy::KernelId kernel);
  void start_undivided(policy::Kernel& kernel, const Start& start);
  void retry_later(policy::KernelId kernel);

  std::vector<policy::Sm> sms_;
  std::vector<std::vector<policy::ResidentKernel>> residents_;  // by SM and id
  std::vector<Workers> places_;                                 // by id
  std::vector<Abandoned> abandoned_;
  std::vector<policy::SmReady> ready_;  // events that the policy was not told yet
  std::vector<policy::SmIdle> idle_;
  std::vector<policy::QuotaSpent> spent_;
  std::map<policy::KernelId, UndividedCap> undivided_caps_;
  bool restrictions_changed_ = false;  // owners, caps or quotas, since undivided_caps_ were decided
};

}  // namespace wm::runtime
