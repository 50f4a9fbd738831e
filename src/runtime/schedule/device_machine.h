// The device as a policy sees it: a Machine whose blocks are work groups, or the workers that run them.
//
// OpenCL does not show on which compute unit a group runs, so this machine is one SM with the sums of all units: limits
// and caps count over the whole device, as accelOS's equations do. It can cap a kernel's groups and order launches, and
// publishes only these capabilities. Time is in nanoseconds. Instructions cannot be counted, so rates and goals are in
// groups per nanosecond: a goal of 2 ms for a launch of 100 groups is a rate of 100 groups per 2 ms.
//
// A rewritten kernel runs as workers, as many as its cap allows. Any other kernel waits while its cap is 0, and is
// otherwise submitted undivided.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "policy/machine.h"
#include "policy/policy.h"

namespace wm::runtime {

class DeviceMachine final : public policy::Machine {
 public:
  // `queues`: the device queues groups that do not fit, so a kernel is started even if the device is full.
  DeviceMachine(const gpu::SmLimits& device, std::uint64_t seed, bool queues = false);

  static policy::Cans capabilities() { return {policy::Can::cap_blocks, policy::Can::order_launches}; }

  // --- called by the runtime
  struct KernelArrival {
    std::uint32_t function = 0;
    int priority = 0;
    double share = 1;
    gpu::Resources footprint;  // needs of a group
    std::uint32_t groups = 0;
    bool divisible = false;           // rewritten: runs as workers
    std::uint64_t stream = 0;         // the client's queue, whose launches have one id for a policy; 0: none
    double goal_nanoseconds = 0;      // time in which the launch should complete; 0: no goal
    double isolated_nanoseconds = 0;  // time that it takes isolated; 0: not known
  };
  // Adds the time since the latest call to the kernels that occupied the device.
  void set_now(Cycles now);
  // The id of the stream's last launch where that has completed; else a new one, or the one unused for longest.
  policy::KernelId arrive(const KernelArrival& launch);
  // A launch that is on the device already, undivided.
  policy::KernelId arrive_started(const KernelArrival& launch);
  // Reports that `workers` workers have left and `done` groups of the launch are complete.
  void left(policy::KernelId kernel, std::uint32_t workers, std::uint32_t done);
  void finish(policy::KernelId kernel);
  // For a kernel that cannot be stopped and whose client has gone: policies no longer see it, and its resources stay
  // occupied until it completes.
  void abandon(policy::KernelId kernel);
  // The number of groups whose resources the kernel occupies.
  [[nodiscard]] std::uint32_t holds(policy::KernelId kernel) const;
  void give_back(const gpu::Resources& footprint, std::uint32_t groups);
  // Changes the weights of a kernel that has arrived.
  void set_weights(policy::KernelId kernel, int priority, double share);
  // Another policy takes over: caps, order, epochs and wake-ups of the former one do not apply any more.
  void forget_decisions();
  // Called after the policy: `start(kernel, workers)` submits that many workers of a kernel that may start; a launch
  // that cannot be divided is started once, with all its groups. Room for `spare` groups stays free.
  void dispatch(const std::function<void(policy::KernelId, std::uint32_t)>& start, std::uint32_t spare = 0);
  [[nodiscard]] bool full() const { return sm_.free.blocks == 0; }
  // Nanoseconds of device time that the launch has used: time that kernels shared is divided among them, so that all
  // kernels together use at most the time that passes.
  [[nodiscard]] double used(policy::KernelId kernel) const { return extras_[kernel.index].used; }
  // Nanoseconds that the launch would have taken isolated, estimated from the part of the device that it used.
  [[nodiscard]] double isolated_estimate(policy::KernelId kernel) const;
  // The number of workers that the kernel may have now; the others must leave.
  [[nodiscard]] std::uint32_t allowed(policy::KernelId kernel) const;
  // When the policy asked to be called next; `fire_due_alarms` calls it.
  [[nodiscard]] std::optional<Cycles> next_alarm() const;
  void fire_due_alarms(policy::Policy& policy);

  // --- Machine
  [[nodiscard]] policy::Cans cans() const override { return capabilities(); }
  [[nodiscard]] Cycles now() const override { return now_; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return limits_; }
  [[nodiscard]] std::span<const policy::Sm> sms() const override { return {&sm_, 1}; }
  [[nodiscard]] std::span<const policy::Kernel> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(policy::SmId) const override { return residents_; }
  [[nodiscard]] Cycles epoch_began() const override { return epoch_began_; }
  Random& random() override { return random_; }
  void give(policy::SmId, policy::KernelId, policy::Preempt) override { refused("own SMs"); }
  void share(policy::SmId) override {}
  void cap(policy::SmId sm, policy::KernelId kernel, std::uint32_t blocks) override;
  void preempt(policy::SmId, policy::KernelId, std::uint32_t) override { refused("switch contexts"); }
  void set_quota(policy::SmId, policy::KernelId, std::int64_t) override { refused("set quotas"); }
  void add_quota(policy::SmId, policy::KernelId, std::int64_t) override { refused("set quotas"); }
  void gate(policy::SmId) override { refused("gate power"); }
  void order(std::span<const policy::KernelId> first) override { first_.assign(first.begin(), first.end()); }
  void set_epoch(Cycles length) override;
  void wake_at(Cycles when, std::uint64_t tag) override { alarms_.push_back({std::max(when, now_), tag}); }

 private:
  struct Alarm {
    Cycles when;
    std::uint64_t tag;
  };
  struct Extra {
    enum class State {
      waiting,    // a launch that cannot be divided, before it is submitted
      started,    // the same, submitted with all its groups
      divisible,  // it runs as workers, so that groups start one after the other
    };
    State state = State::waiting;
    std::uint32_t launches = 0;  // launches of its stream before this one
    Cycles first_arrived;
    std::uint64_t stream = 0;
    std::uint32_t roomless = 0;  // resident groups that exceeded the device's resources when they were submitted
    double used = 0;             // device time of this launch
    std::uint64_t groups = 0;    // groups that completed in launches of its stream before this one
  };
  [[noreturn]] static void refused(const char* what);
  [[nodiscard]] policy::Kernel* view(policy::KernelId id);
  policy::KernelId id_for(std::uint64_t stream);
  [[nodiscard]] std::vector<policy::KernelId> in_order() const;
  // `room`: the number of groups that fit on the device.
  void occupy(policy::Kernel& kernel, std::uint32_t groups, std::uint32_t room);
  void vacate(policy::Kernel& kernel, std::uint32_t groups);
  void forget(policy::Kernel& kernel);
  // The part of the device that the kernel occupies, from 0 to 1, and that it would occupy isolated.
  [[nodiscard]] double occupied_part(const policy::Kernel& kernel) const;
  [[nodiscard]] static double isolated_part(const policy::Kernel& kernel);

  gpu::SmLimits limits_;
  bool queues_;
  policy::Sm sm_;
  std::vector<policy::Kernel> kernels_;            // in order of arrival
  std::vector<policy::ResidentKernel> residents_;  // by id
  std::vector<Extra> extras_;                      // by id
  std::vector<policy::KernelId> free_ids_;         // the one that completed first is first
  std::vector<policy::KernelId> first_;
  std::vector<Alarm> alarms_;
  Cycles now_, epoch_began_, epoch_length_;
  Random random_;
};

}  // namespace wm::runtime
