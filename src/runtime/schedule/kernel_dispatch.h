// Connects launches with the device Machine: arrival, dispatch as the policy decides, and completion.
// Guarded by the scheduler's lock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "policy/policy.h"
#include "runtime/schedule/admission.h"
#include "runtime/schedule/clock.h"
#include "runtime/schedule/runtime_machine.h"
#include "runtime/schedule/sharing_cost.h"
#include "runtime/schedule/workers.h"

namespace wm::runtime {

// A policy gets a Machine with one entry per SM (sm_machine.h) where it needs that and the device can, because workers
// cost a part of a kernel's speed; else the Machine is the whole device (device_machine.h).
[[nodiscard]] bool needs_real_sms(const policy::Info& policy, const Capabilities& device);
[[nodiscard]] policy::Cans machine_capabilities(bool real_sms);

class KernelDispatch {
 public:
  KernelDispatch(Backend& backend, std::unique_ptr<policy::Policy> policy, const AdmissionOptions& options,
                 const Clock& clock);

  [[nodiscard]] const Admission& admission() const { return admission_; }
  [[nodiscard]] const ActiveKernels& kernels() const { return kernels_; }
  [[nodiscard]] const RuntimeMachine& machine() const { return *machine_; }
  [[nodiscard]] Workers& workers() { return *workers_; }

  // Policies see the time of the latest call.
  void update_time() { machine_->set_now(Cycles{clock_.now()}); }
  [[nodiscard]] std::optional<std::uint64_t> next_alarm() const;
  // Tells the policy of alarms that are due.
  void fire_due_alarms();

  // Another policy decides from now on; it is told of the kernels that are active.
  void set_policy(std::unique_ptr<policy::Policy> policy, const AdmissionOptions& options);
  // The client's weights have changed.
  void update_weights(const Client& client);

  // A launch whose dependencies are met; the policy will start it.
  void arrive(const CommandPtr& command);
  // A launch that is on the device already, undivided.
  void register_running(const CommandPtr& command);
  // Puts workers of a launch on its queue behind those of `before`, which is there. The policy learns of it when that
  // has completed, by `register_pipelined_workers`.
  [[nodiscard]] Workers::Submitted pipeline_workers(Command& command, const Command& before);
  void register_pipelined_workers(const CommandPtr& command);
  // A launch that goes to the device now, undivided, whatever the policy says; the policy is told.
  void start_at_once(const CommandPtr& command);
  // A batch of workers has left.
  void note_change() { changed_ = true; }
  // Whether an event since the last `dispatch` may change the policy's decision.
  [[nodiscard]] bool has_changed() const { return changed_; }
  // Calls the policy, then `start(command, groups)` for every launch that may start.
  void dispatch(const std::function<void(const CommandPtr&, std::uint32_t)>& start);
  // Puts an undivided launch on its queue.
  Status launch(Command& command, EventHandle* event);
  // A kernel has completed, or will not run; its resources are free.
  void finished(const CommandPtr& command, bool ran);
  // Device time of the client's kernels that have not completed, in nanoseconds.
  [[nodiscard]] double used_by_active(const Client& client) const;

  // Workers of a client that has gone leave at their next group. Returns its launches that have no running workers.
  std::vector<CommandPtr> cancel_workers(const Client& client);
  // Kernels that the device still runs for a client that has gone cannot be stopped. Other kernels share the rest.
  std::vector<CommandPtr> orphan_kernels(const Client& client);

  // Counts a transfer that occupies a compute unit, on devices whose transfers do.
  void begin_transfer(Command& command);
  void end_transfer(Command& command);

 private:
  void add(const CommandPtr& command);
  [[nodiscard]] RuntimeMachine::KernelArrival describe(Command& command, bool unmodified);
  // The goal of the launch and the time that it takes isolated.
  void set_times(RuntimeMachine::KernelArrival& arrival, const Client& of, const LaunchPlan& plan) const;
  // The launch as workers, if it can run so.
  void prepare_workers(Command& command);
  // `local`: the size of a group.
  [[nodiscard]] gpu::Resources worker_footprint(const LaunchPlan& plan, const Size3& local) const;
  [[nodiscard]] gpu::Resources undivided_footprint(const LaunchPlan& plan) const;
  // Tells queues whether the policy holds their launches, and whether and how they keep its caps undivided.
  void note_caps();
  // Workers for which the isolated device has room.
  [[nodiscard]] std::uint32_t room_for_workers(const Command& command) const;
  void make_machine(bool real_sms);
  void make_room_for_transfers();
  [[nodiscard]] LaunchSharing sharing(const Command& command) const;
  // The launch's priority by the policy's order, where it has one.
  [[nodiscard]] std::optional<int> order_priority(const Command& command) const;

  Backend& backend_;
  const Clock& clock_;
  std::unique_ptr<policy::Policy> policy_;
  const std::uint32_t reserved_local_bytes_;  // per group
  ActiveKernels kernels_;
  Admission admission_;
  std::unique_ptr<RuntimeMachine> machine_;
  std::unique_ptr<Workers> workers_;
  std::vector<KernelArgument> arguments_;  // arguments of the launch being submitted
  SharingCost sharing_cost_{kernels_};
  bool changed_ = false;
  std::uint32_t transfers_ = 0;  // transfers that occupy compute units
};

}  // namespace wm::runtime
