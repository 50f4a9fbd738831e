// The machines of CUDA programs have this in common: a kernel is an active program, and a launch counts as a number of
// instructions, so that rates and goals are launches per time. A cycle is 10 µs: an epoch of 10,000 cycles is a tenth
// of a second.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "policy/policy.h"

namespace wm::runtime {

class LaunchCountMachine : public policy::Machine {
 public:
  static constexpr std::uint64_t kNanosecondsPerCycle = 10'000;

  // --- called by the daemon
  struct Arrival {
    int priority = 0;
    double share = 1;
    double goal = 0, isolated = 0;                // launches per second; 0: none, not known
    double part = 0;                              // the part of the GPU that its largest launch fills; 0: not known
    policy::KernelId before = policy::kNoKernel;  // the id that the program had when it was active before
  };
  void set_now(Cycles now) { now_ = now; }
  policy::KernelId arrive(const Arrival& program);
  void finish(policy::KernelId kernel);
  // Takes over goal, priority and share, which may change while the program is active.
  void update(policy::KernelId kernel, const Arrival& program);
  // `launches` with the part of the last one that has passed.
  void launched(policy::KernelId kernel, double launches);
  // Tells the policy of epochs and wake-ups that are due and of other events, until none is left. `tell(event)` calls
  // the policy.
  template <typename Tell>
  void deliver(Tell&& tell) {
    while (const auto event = next_event()) std::visit(tell, *event);
  }

  // --- Machine
  [[nodiscard]] Cycles now() const override { return now_; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return limits_; }
  [[nodiscard]] std::span<const policy::Sm> sms() const override { return sms_; }
  [[nodiscard]] std::span<const policy::Kernel> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(policy::SmId sm) const override {
    return residents_[sm.index];
  }
  [[nodiscard]] Cycles epoch_began() const override { return epoch_began_; }
  Random& random() override { return random_; }
  void order(std::span<const policy::KernelId>) override {}  // programs launch for themselves
  void set_epoch(Cycles length) override;
  void wake_at(Cycles when, std::uint64_t tag) override { alarms_.push_back({std::max(when, now_), tag}); }
  void give(policy::SmId, policy::KernelId, policy::Preempt) override { refuse("give SMs to programs"); }
  void share(policy::SmId) override { refuse("share SMs"); }
  void cap(policy::SmId, policy::KernelId, std::uint32_t) override { refuse("limit blocks"); }
  void preempt(policy::SmId, policy::KernelId, std::uint32_t) override { refuse("switch contexts"); }
  void set_quota(policy::SmId, policy::KernelId, std::int64_t) override { refuse("set quotas"); }
  void add_quota(policy::SmId, policy::KernelId, std::int64_t) override { refuse("set quotas"); }
  void gate(policy::SmId) override { refuse("gate power"); }

 protected:
  using Event = std::variant<policy::SmReady, policy::SmIdle, policy::QuotaSpent, policy::Epoch, policy::Wake>;

  // `block` is what every block of a program needs.
  LaunchCountMachine(std::uint32_t sms, const gpu::SmLimits& limits, const gpu::Resources& block,
                     std::uint64_t instructions_per_launch);
  [[noreturn]] static void refuse(const char* what);
  [[nodiscard]] policy::Kernel* view(policy::KernelId id);
  [[nodiscard]] policy::ResidentKernel& on(const policy::Sm& sm, policy::KernelId id) {
    return residents_[sm.index][id.index];
  }

  // The program has so many blocks at least, as its launches fill them.
  virtual void set_blocks(policy::Kernel& kernel, std::uint32_t blocks) = 0;
  // The program's blocks leave all SMs.
  virtual void leave(policy::Kernel& kernel) = 0;
  // Called before every event.
  virtual void occupy() = 0;
  virtual void executed(const policy::Sm&, policy::KernelId, std::uint64_t) {}
  // The next event that is no epoch or wake-up.
  [[nodiscard]] virtual std::optional<Event> next_change() = 0;

  const gpu::SmLimits limits_;
  const double instructions_per_launch_;
  const gpu::Resources block_;
  std::vector<policy::Sm> sms_;

 private:
  struct Alarm {
    Cycles when;
    std::uint64_t tag;
  };
  [[nodiscard]] std::optional<Event> next_event();
  void clear_counters();

  std::vector<std::vector<policy::ResidentKernel>> residents_;  // by SM and id
  std::vector<policy::Kernel> kernels_;                         // in order of arrival
  std::vector<policy::Kernel> seen_;                            // by id, as they were when they last finished
  std::vector<Cycles> progressed_;                              // by id: when it last launched
  std::vector<Alarm> alarms_;
  Cycles now_, epoch_began_, epoch_length_;
  bool epoch_ended_ = false;  // its counters are cleared before the next event
  Random random_{1};

 protected:
  [[nodiscard]] std::vector<policy::Kernel>& views() { return kernels_; }
  [[nodiscard]] std::span<const policy::ResidentKernel> programs_on(const policy::Sm& sm) const {
    return residents_[sm.index];
  }
};

}  // namespace wm::runtime
