// The device as a policy sees it: a Machine whose blocks are work groups, or the workers that run them.
//
// OpenCL does not show on which compute unit a group runs, so this machine is one SM with the sums of all units: limits
// and caps count over the whole device, as accelOS's equations do. It can cap a kernel's groups and order launches, and
// publishes only these capabilities.
//
// A rewritten kernel runs as workers, as many as its cap allows. Any other kernel waits while its cap is 0, and is
// otherwise submitted undivided.
#pragma once

#include "runtime/schedule/runtime_machine.h"

namespace wm::runtime {

class DeviceMachine final : public RuntimeMachine {
 public:
  // `queues`: the device queues groups that do not fit, so a kernel is started even if the device is full.
  DeviceMachine(const gpu::SmLimits& device, std::uint64_t seed, bool queues = false);

  static policy::Cans capabilities() { return {policy::Can::cap_blocks, policy::Can::order_launches}; }

  // --- called by the runtime
  using RuntimeMachine::dispatch;
  void left(policy::KernelId kernel, std::uint32_t workers, std::uint32_t done) override;
  void abandon(policy::KernelId kernel) override;
  [[nodiscard]] std::uint32_t holds(policy::KernelId kernel) const override;
  void give_back(const gpu::Resources& footprint, std::uint32_t groups) override;
  void forget_decisions() override;
  void dispatch(const Start& start, std::uint32_t spare) override;
  [[nodiscard]] bool full() const override { return sm_.free.blocks == 0; }
  [[nodiscard]] std::uint32_t allowed(policy::KernelId kernel) const override;
  [[nodiscard]] std::uint32_t allowed_per_unit(policy::KernelId kernel, std::uint32_t units) const override;
  void deliver_events(policy::Policy&) override {}
  [[nodiscard]] bool has_events() const override { return false; }

  // --- Machine
  [[nodiscard]] policy::Cans cans() const override { return capabilities(); }
  [[nodiscard]] std::span<const policy::Sm> sms() const override { return {&sm_, 1}; }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(policy::SmId) const override { return residents_; }
  void give(policy::SmId, policy::KernelId, policy::Preempt) override { refused("own SMs"); }
  void share(policy::SmId) override {}
  void cap(policy::SmId sm, policy::KernelId kernel, std::uint32_t blocks) override;

 private:
  void reset(policy::KernelId id) override;
  void occupy_undivided(policy::Kernel& kernel) override;
  void vacate_all(policy::Kernel& kernel) override { vacate(kernel, kernel.resident); }
  void clear_counters() override;
  [[nodiscard]] std::uint32_t places(const policy::Kernel& kernel) const override;
  // `room`: the number of groups that fit on the device.
  void occupy(policy::Kernel& kernel, std::uint32_t groups, std::uint32_t room);
  void vacate(policy::Kernel& kernel, std::uint32_t groups);
  void fill_room();

  const bool queues_;
  policy::Sm sm_;
  std::vector<policy::ResidentKernel> residents_;  // by id
};

}  // namespace wm::runtime
