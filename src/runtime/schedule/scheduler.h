// Decides when each client's commands run: it resolves dependencies, chooses device queues, and asks the policy which
// kernels start and how much of the device they get.
//
// Commands without kernels go to the device as soon as the commands they wait for have completed, or lie before them on
// the same device queue. Kernels are arrivals of the device Machine, unless an admission rule lets them pass. One lock
// guards all parts; a client's reader, a transfer thread or the completion thread takes it, reports an event and
// performs its consequences.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/cleanup_thread.h"
#include "runtime/device/deferred_release.h"
#include "runtime/device/object_counts.h"
#include "runtime/schedule/combining_mutex.h"
#include "runtime/schedule/command_graph.h"
#include "runtime/schedule/device_clock.h"
#include "runtime/schedule/kernel_dispatch.h"
#include "runtime/schedule/printf_output.h"
#include "runtime/schedule/transfer.h"

namespace wm::runtime {

class Scheduler final : private CompletionHandler {
 public:
  // Idle threads stay awake for `max_awake` at most.
  Scheduler(Backend& backend, ObjectCounts& counts, std::unique_ptr<policy::Policy> policy,
            const AdmissionOptions& options, const Clock& clock = steady_clock(),
            std::chrono::nanoseconds max_awake = kDefaultMaxAwake);
  // Waits until nothing is on the device.
  ~Scheduler() override;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A command that runs after those of its queue and of these events.
  void add(const CommandPtr& command, std::span<const EventId> waits);
  void add_user_event(const std::shared_ptr<Client>& client, EventId event);
  void set_user_event(Client& client, EventId event, Status status);
  // The client has finished the access that a command `host_access` waited for.
  void end_host_access(Client& client, EventId event);
  // The client has gone: its commands that have not reached the device are dropped.
  void drop(Client& client);
  // Whether the kernel accepts the value at that index. Holds the lock, since launches set arguments of the same
  // kernel.
  Status check_argument(const Kernel& kernel, std::uint32_t index, const LaunchPlan::Value& value);
  // The group size of its workers, where such a launch can run as workers. Any thread may ask.
  [[nodiscard]] std::optional<Size3> local_size_of_workers(const LaunchPlan& plan) const;
  // Whether a launch that could be divided into workers would run unmodified now.
  [[nodiscard]] bool prefers_unmodified(const Client& client, const LaunchPlan& plan);

  // A client's reader that has nothing to read observes completions meanwhile, as in CompletionSource.
  void observe_until(const std::function<bool()>& ready) { completions_->observe_until(ready); }

  // Destroyed on the background cleanup thread.
  void destroy_later(std::shared_ptr<void> object) { cleanup_.take(std::move(object)); }
  [[nodiscard]] DeferredRelease& deferred_release() { return deferred_release_; }

  // Changes a client's weights, also for its running kernels.
  void set_weights(Client& client, int priority, double share);
  // Another policy decides from now on. Clients and their kernels continue.
  void set_policy(std::unique_ptr<policy::Policy> policy, const AdmissionOptions& options);

  [[nodiscard]] ClientStatistics statistics(const Client& client);
  // Kernels of clients that have gone, still on the device.
  struct OrphanedKernel {
    std::shared_ptr<Client> client;
    std::string kernel;
    std::uint64_t nanoseconds, client_gone_nanoseconds;  // since it was submitted, and since its client went
  };
  [[nodiscard]] std::vector<OrphanedKernel> orphaned_kernels();
  // Whether the device has failed or refused a command since the last call.
  [[nodiscard]] bool take_failed_command() { return failed_command_.exchange(false); }
  // "name: description" of every admission rule.
  [[nodiscard]] std::vector<std::string> admission_rules() const;
  // For tests that poll or deliver completions themselves.
  [[nodiscard]] CompletionSource& completions() { return *completions_; }

  static const Clock& steady_clock();

 private:
  [[nodiscard]] std::unique_ptr<CompletionSource> make_completions(std::chrono::nanoseconds max_awake);

  // --- CompletionHandler
  SpinMutex& mutex() override { return mutex_.plain(); }
  [[nodiscard]] std::optional<std::uint64_t> next_alarm() const override { return dispatch_.next_alarm(); }
  void complete(std::span<const Completion> completions) override;

  // Submits ready commands and dispatches kernels until nothing more can start.
  void work();
  void submit(const CommandPtr& command);
  void submit_transfer(const CommandPtr& command);
  // Called when a transfer thread has completed the command.
  void transferred(const CommandPtr& command, Status status, EventHandle event);
  // Called when the device has accepted or refused the command.
  void submitted(const CommandPtr& command, Command::State state, Status status, EventHandle event,
                 const std::shared_ptr<WorkerBatch>& batch = nullptr);
  void complete(const Completion& completion);
  void record_times(Command& command, const Completion& completion);
  void finish(const CommandPtr& command, Status status);
  // Completes a command that will not run, once those before it on its queue have been seen to complete.
  void refuse(const CommandPtr& command, Status status);
  void fail(const CommandPtr& command) { refuse(command, status::kDependencyFailed); }
  // All commands before it on its device queue have been seen to complete.
  void observed(const CommandPtr& command);

  void start(const CommandPtr& command, std::uint32_t groups);
  void launch(const CommandPtr& command, std::uint32_t groups, Command::State state);
  void launch_workers(const CommandPtr& command, std::uint32_t workers);
  // The launch goes to the device in this form.
  void note_form(const Command& command, bool as_workers);
  // The launch's kernel and program are destroyed in the background where no other command or client has them.
  void release_launch(Command& command);
  void pipeline(const CommandPtr& command);
  void pipeline_workers(const CommandPtr& command, const Command& before);
  void pipeline_again(const CommandPtr& command);
  void pipeline_again_behind(const Command& command);
  void end_pipelined(Command& command);
  void end_printf(const CommandPtr& command);

  Backend& backend_;
  ObjectCounts& counts_;
  const Clock& clock_;
  DeferredRelease deferred_release_;
  CleanupThread cleanup_;
  CleanupThread unloading_;       // unloads programs, which may wait for kernels without an end
  mutable CombiningMutex mutex_;  // guards the following parts
  KernelDispatch dispatch_;
  DeviceClock device_clock_;
  const std::unique_ptr<CompletionSource> completions_;
  CommandGraph graph_;
  PrintfOutput printf_;
  std::atomic<bool> failed_command_{false};
  std::optional<TransferThreads> transfers_;
};

}  // namespace wm::runtime
