// The device as a policy sees it: a Machine whose blocks are work groups, or the workers that run them.
//
// OpenCL tells nobody which compute unit a group runs on, so this machine is one SM with the sums of all: limits and
// caps count over the whole device, as accelOS's equations do. It can cap a kernel's groups and order launches; it owns
// no SMs, switches no contexts and counts no instructions, and says so. Time is in nanoseconds.
//
// A kernel that was rewritten runs as workers, as many as its cap says. One that was not is all or nothing: with a cap
// of 0 it waits, otherwise the whole launch goes to the device.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "policy/machine.h"
#include "policy/policy.h"

namespace wm::runtime {

class DeviceMachine final : public policy::Machine {
 public:
  // `queues`: what finds no room waits on the device itself, so a share is started whatever else is there.
  DeviceMachine(const gpu::SmLimits& device, std::uint64_t seed, bool queues = false);

  static policy::Cans capabilities() { return {policy::Can::cap_blocks, policy::Can::order_launches}; }

  // --- what the runtime tells it
  struct KernelArrival {
    std::uint32_t function = 0;
    int priority = 0;
    double share = 1;
    gpu::Resources footprint;  // of a group
    std::uint32_t groups = 0;
    bool divisible = false;    // rewritten: runs as workers
    std::uint64_t stream = 0;  // the client's queue: its launches are one kernel's to a policy; 0: of none
  };
  void set_now(Cycles now) { now_ = now; }
  // The id of the stream's last launch where that has ended; else a fresh one, or one that was long not used.
  policy::KernelId arrive(const KernelArrival& launch);
  // One that is on the device already, whole.
  policy::KernelId arrive_started(const KernelArrival& launch);
  // That many workers have left; `done` groups of the launch are finished by now.
  void left(policy::KernelId kernel, std::uint32_t workers, std::uint32_t done);
  void finish(policy::KernelId kernel);
  // It cannot be stopped and nobody waits for it: policies see no more of it, and its room stays taken until it is
  // given back.
  void abandon(policy::KernelId kernel);
  // Groups whose room that is.
  [[nodiscard]] std::uint32_t holds(policy::KernelId kernel) const;
  void give_back(const gpu::Resources& footprint, std::uint32_t groups);
  // The policy's share of an instant is over: starts what may start. `start(kernel, workers)` puts that many on the
  // device; a launch that cannot be divided is started once, whole. Workers leave room for `spare` groups.
  void dispatch(const std::function<void(policy::KernelId, std::uint32_t)>& start, std::uint32_t spare = 0);
  [[nodiscard]] bool full() const { return sm_.free.blocks == 0; }
  // How many workers the kernel may have now; those above it should leave.
  [[nodiscard]] std::uint32_t allowed(policy::KernelId kernel) const;
  // The next moment the policy asked for, and what it is then told.
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
    bool divisible = false;
    bool started = false;        // all of it, where it cannot be divided
    std::uint32_t launches = 0;  // of its stream, before this one
    Cycles first_arrived;
    std::uint64_t stream = 0;
    std::uint32_t roomless = 0;  // of the resident, those that had no room when they started
  };
  [[noreturn]] static void refused(const char* what);
  [[nodiscard]] policy::Kernel* view(policy::KernelId id);
  policy::KernelId id_for(std::uint64_t stream);
  [[nodiscard]] std::vector<policy::KernelId> in_order() const;
  // `room`: how many of them have any.
  void occupy(policy::Kernel& kernel, std::uint32_t groups, std::uint32_t room);
  void vacate(policy::Kernel& kernel, std::uint32_t groups);
  void forget(policy::Kernel& kernel);

  gpu::SmLimits limits_;
  bool queues_;
  policy::Sm sm_;
  std::vector<policy::Kernel> kernels_;            // in order of arrival
  std::vector<policy::ResidentKernel> residents_;  // by id
  std::vector<Extra> extras_;                      // by id
  std::vector<policy::KernelId> free_ids_;         // that ended first, first
  std::vector<policy::KernelId> first_;
  std::vector<Alarm> alarms_;
  Cycles now_, epoch_began_, epoch_length_;
  Random random_;
};

}  // namespace wm::runtime
