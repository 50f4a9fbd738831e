// A GPU whose SMs CUDA programs own in groups, as a Machine: an SM of this machine is a group of SMs, and a kernel is
// an active program.
//
// A program is told its groups and uses them from its next launch on. A group that a program loses is reserved until
// the program has launched without it, or has been silent for `kSilenceLimit`; launches before that may still run there
// for their length. A launch counts as kInstructions instructions, spread over the groups of its program, so that rates
// and goals are launches per time. A cycle is 10 µs: an epoch of 10,000 cycles is a tenth of a second.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "policy/policy.h"

namespace wm::runtime {

class ProgramMachine final : public policy::Machine {
 public:
  static constexpr std::uint64_t kNanosecondsPerCycle = 10'000;
  static constexpr std::uint64_t kInstructions = 1000;
  static constexpr Cycles kSilenceLimit{10'000};

  explicit ProgramMachine(std::uint32_t groups);

  static policy::Cans capabilities() {
    return {policy::Can::own_sms, policy::Can::drain, policy::Can::order_launches, policy::Can::count_instructions};
  }

  // --- called by the daemon
  struct Arrival {
    int priority = 0;
    double share = 1;
    double goal = 0, isolated = 0;                // launches per second; 0: none, not known
    std::uint32_t groups = 0;                     // that its largest launch fills; 0: not known
    policy::KernelId before = policy::kNoKernel;  // the id that the program had when it was active before
  };
  void set_now(Cycles now) { now_ = now; }
  policy::KernelId arrive(const Arrival& program);
  void finish(policy::KernelId kernel);
  // Takes over goal, priority and share, which may change while the program is active.
  void update(policy::KernelId kernel, const Arrival& program);
  // `launches` with the part of the last one that has passed.
  void launched(policy::KernelId kernel, double launches);
  // The program's last launch used these groups, a bit each.
  void used(policy::KernelId kernel, std::uint64_t groups);
  // Tells the policy of epochs and wake-ups that are due and of groups that changed their owner, until none is left.
  // `tell(event)` calls the policy.
  template <typename Tell>
  void deliver(Tell&& tell) {
    while (const auto event = next_event()) std::visit(tell, *event);
  }
  // The groups that the program may use, a bit each.
  [[nodiscard]] std::uint64_t groups(policy::KernelId kernel) const;

  // --- Machine
  [[nodiscard]] policy::Cans cans() const override { return capabilities(); }
  [[nodiscard]] Cycles now() const override { return now_; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return limits_; }
  [[nodiscard]] std::span<const policy::Sm> sms() const override { return sms_; }
  [[nodiscard]] std::span<const policy::Kernel> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(policy::SmId sm) const override {
    return residents_[sm.index];
  }
  [[nodiscard]] Cycles epoch_began() const override { return epoch_began_; }
  Random& random() override { return random_; }
  void give(policy::SmId sm, policy::KernelId kernel, policy::Preempt how) override;
  void share(policy::SmId sm) override;
  void order(std::span<const policy::KernelId>) override {}  // programs launch for themselves
  void set_epoch(Cycles length) override;
  void wake_at(Cycles when, std::uint64_t tag) override { alarms_.push_back({std::max(when, now_), tag}); }
  void cap(policy::SmId, policy::KernelId, std::uint32_t) override { refuse("limit blocks"); }
  void preempt(policy::SmId, policy::KernelId, std::uint32_t) override { refuse("switch contexts"); }
  void set_quota(policy::SmId, policy::KernelId, std::int64_t) override { refuse("set quotas"); }
  void add_quota(policy::SmId, policy::KernelId, std::int64_t) override { refuse("set quotas"); }
  void gate(policy::SmId) override { refuse("gate power"); }

 private:
  using Event = std::variant<policy::SmReady, policy::SmIdle, policy::Epoch, policy::Wake>;
  struct Alarm {
    Cycles when;
    std::uint64_t tag;
  };
  [[noreturn]] static void refuse(const char* what);
  [[nodiscard]] std::optional<Event> next_event();
  [[nodiscard]] policy::Kernel* view(policy::KernelId id);
  void vacate(policy::Sm& sm, policy::Kernel& kernel);
  // Programs use the groups that they own.
  void occupy();
  void clear_counters();

  const gpu::SmLimits limits_;
  std::vector<policy::Sm> sms_;
  std::vector<std::vector<policy::ResidentKernel>> residents_;  // by group and id
  std::vector<policy::Kernel> kernels_;                         // in order of arrival
  std::vector<policy::Kernel> seen_;                            // by id, as they were when they last finished
  std::vector<Cycles> progressed_;                              // by id: when it last launched
  std::vector<Cycles> reserved_since_;                          // by group
  std::vector<Event> ready_;                                    // that the policy was not told yet
  std::vector<Alarm> alarms_;
  Cycles now_, epoch_began_, epoch_length_;
  bool epoch_ended_ = false;  // its counters are cleared before the next event
  Random random_{1};
};

}  // namespace wm::runtime
