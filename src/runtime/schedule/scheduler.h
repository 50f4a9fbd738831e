// When each client's commands run: dependencies, the native queues they go to, and the policy that says whose kernels
// start when, with how much of the device.
//
// Commands without kernels go to the device as soon as what they wait for has ended, or lies before them on the same
// native queue. Kernels are arrivals of the device Machine. One lock guards all of it; who has news (a client's reader,
// or the thread that hears from the device) brings it and does what follows from it.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "policy/registry.h"
#include "runtime/device/cleanup_thread.h"
#include "runtime/device/completion_flags.h"
#include "runtime/device/deferred_release.h"
#include "runtime/device/kernel_output.h"
#include "runtime/protocol/futex.h"
#include "runtime/schedule/command.h"
#include "runtime/schedule/device_machine.h"

namespace wm::runtime {

// What people want to know about a client's work.
struct ClientStatistics {
  std::uint64_t commands = 0, launches = 0, outstanding = 0;
  std::uint64_t device_nanoseconds = 0;   // kernels on the device …
  std::uint64_t waited_nanoseconds = 0;   // … and ready, but not yet on it
  std::uint64_t as_workers = 0;           // of the launches, those that ran as workers
  std::uint64_t running_nanoseconds = 0;  // since the oldest kernel that is on the device came there
  std::uint32_t workers = 0;              // groups of the running kernel that may run at once
  std::string kernel;                     // the latest to start
  int priority = 0;
  double share = 1;
};

// What the scheduler keeps about a client, under its own lock.
struct ClientState {
  std::map<std::uint32_t, CommandPtr> open;  // by slot: commands and user events that have not ended
  std::vector<CommandPtr> displaced;         // whose slot was taken by another before they ended
  std::map<std::uint32_t, cl_int> failed;    // by slot: how the last command there failed
  std::uint32_t pipelined_launches = 0;
  double ahead_nanoseconds = 0;  // that the pipelined_launches are expected to take
  ClientStatistics statistics;
};

class Scheduler {
 public:
  Scheduler(Native& native, ObjectCounts& census, const gpu::SmLimits& device, std::unique_ptr<policy::Policy> policy,
            bool pass_through, double short_launch = 100'000);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A command, to run after those of its queue and of these slots.
  void add(const CommandPtr& command, std::span<const std::uint32_t> waits);
  void add_user_event(const std::shared_ptr<Session>& client, std::uint32_t slot);
  void set_user_event(Session& client, std::uint32_t slot, cl_int status);
  // The client has moved the bytes that it waited for.
  void end_host_access(Session& client, std::uint32_t slot);
  // The client is gone: what has not reached the device never will.
  void drop(Session& client);
  // Whether the device takes such a value there. Between launches, which set arguments too.
  cl_int try_argument(const Kernel& kernel, cl_uint index, const LaunchPlan::Value& value);
  // The size of its groups, where such a launch can run as workers. Any thread may ask.
  [[nodiscard]] std::optional<std::array<std::size_t, 3>> local_of_workers(const LaunchPlan& plan) const;
  // Whether it would run as it is, now: nothing of it would be worth dividing.
  [[nodiscard]] bool prefers_unmodified(const Session& client, const LaunchPlan& plan);
  // Destroyed when there is time, by nobody who has something to do.
  void let_go(std::shared_ptr<void> thing) { cleanup_.take(std::move(thing)); }
  [[nodiscard]] DeferredRelease& releases() { return releases_; }
  [[nodiscard]] ClientStatistics statistics(const Session& client);
  // Kernels of clients that have gone, still on the device: OpenCL cannot take them back.
  struct OrphanedKernel {
    std::shared_ptr<Session> client;
    std::string kernel;
    std::uint64_t nanoseconds, gone;  // since it came there, and since its client went
  };
  [[nodiscard]] std::vector<OrphanedKernel> orphaned_kernels();
  // Whether the device has failed or refused something since this was last asked.
  [[nodiscard]] bool take_doubt() { return doubt_.exchange(false); }

 private:
  std::atomic<bool> doubt_{false};
  struct DeviceTimes {
    std::uint64_t queued = 0, started = 0, ended = 0;  // queued: 0 where that was not asked for
  };
  struct Completion {
    CommandPtr command;
    cl_event event;
    cl_int status;
    std::shared_ptr<WorkerBatch> batch;
    double expected = 0;                              // nanoseconds on the device
    std::uint64_t time = 0;                           // when it was seen; 0: the event knows better
    std::size_t among = 1;                            // of those seen then, with it and after it
    std::optional<DeviceTimes> times = std::nullopt;  // where the event has been asked, and is gone
    std::optional<CompletionFlags::Flag> flag = std::nullopt;
  };
  // What is on a native queue and not known to have ended.
  struct Line {
    cl_command_queue queue;
    bool in_order;
    std::deque<Completion> open;
  };
  struct Watched {
    cl_command_queue queue;
    cl_event event;
    bool awaited = true;           // somebody could be waiting for it
    std::uint64_t not_before = 0;  // it will hardly have ended by then, on the daemon's clock
    cl_int state = CL_QUEUED;
    std::optional<CompletionFlags::Flag> flag = std::nullopt;
  };
  static void CL_CALLBACK on_ended(cl_event event, cl_int status, void* data);
  void listen();
  void ring();
  // Without being called back (endings.cc).
  void look();
  void watch(cl_command_queue queue, bool in_order, Completion ended);
  void enqueue_flag(cl_command_queue queue, bool in_order, Completion& ended);
  // Looks whether it has ended; asks the driver only where there is no flag, or now and then for errors.
  void look_at(Watched& watched, bool driver) const;
  [[nodiscard]] static std::size_t last_to_tell(const Line& line);
  void choose_events();
  [[nodiscard]] bool awaited(const Line& line, std::size_t last) const;
  // Off its line, with those before it where they ended in order.
  void take_ended(const Watched& watched, std::vector<Completion>& ended);
  // Whether the device is asked when it began and ended: somebody may ask us, or asking costs nothing.
  [[nodiscard]] bool is_timed(const Command& command) const {
    return command.queue->timed && (native_.in_host_memory() || command.slot != kNoEvent);
  }
  // What the device's driver knows of it. Without the lock: each question takes microseconds.
  void ask(Completion& ended) const;
  // Launches that nobody looks at, one of many that follow each other, have no event of the device's, which would cost
  // as much as a third of the launch; a later one's stands for them.
  [[nodiscard]] bool can_skip_event(const Command& command) const;
  // A marker, if the last on the line has none.
  cl_int make_heard(Line& line);
  void make_heard(const Command& command);
  static void put_in_slot(const CommandPtr& command);
  void depend(const CommandPtr& command, const CommandPtr& on, bool order);
  void order_in_queue(const CommandPtr& command, bool explicit_waits);
  void work();
  void submit(const CommandPtr& command);
  void arrive(const CommandPtr& command);
  // Transfers that are waited for, by threads of their own (carrier.cc).
  void carry(const CommandPtr& command);
  void carry_on();
  void start(policy::KernelId kernel, std::uint32_t groups);
  void put_on_device(const CommandPtr& command, std::uint32_t groups);
  // Launches that run as workers (worker_launches.cc).
  [[nodiscard]] std::unique_ptr<WorkerRun> as_workers(const LaunchPlan& plan);
  void send_workers(const CommandPtr& command, std::uint32_t workers);
  void send_batch(const CommandPtr& command, std::uint32_t workers);
  void shrink_to_caps();
  // Fills and copies on a CPU need a compute unit as groups do, and no policy knows of them: one place is theirs.
  void begin_errand(Command& command);
  void end_errand(Command& command);
  void make_way_for_errands();
  // Of a client that has gone: they leave at their next group, and none follow.
  void call_off_workers(Session& client);
  // Launches that print (printing.cc).
  [[nodiscard]] bool waits_to_print(const CommandPtr& command);
  void end_printing(const CommandPtr& command);
  void drop_printers(const Session& client);
  void shrink(Command& command, std::uint32_t by);
  // Native queues for batches after the first, which need not wait for it or for each other.
  [[nodiscard]] Native_<cl_command_queue> lane();
  void abandon_kernels(Session& client);
  void recall(Command& command, std::uint32_t allowed);
  void batch_completed(const Completion& ended);
  cl_int set_arguments(const LaunchPlan& plan, cl_kernel kernel);
  // Kernels of a client that is alone may follow each other on its native queue without the policy's leave, if they are
  // short or cannot be divided; each is told to it when the one before it has ended.
  static constexpr std::uint32_t kMaxPipelined = 32;
  void ride(const CommandPtr& command);
  void end_ride(Command& command);
  // Those that may follow it on its native queue do.
  void let_follow(Command& command);
  void adopt(const CommandPtr& command);
  // What a launch is expected to take alone; nothing where its kernel has not run yet.
  [[nodiscard]] static std::optional<double> expected(const LaunchPlan& plan);
  // So short, behind `ahead` nanoseconds of its client's others, that a newcomer would not mind; or, in company on a
  // device with many compute units, that hearing of its end and sending the next would take longer than it does.
  [[nodiscard]] bool is_short(const Command& command, double ahead, bool alone) const;
  static void learn(Command& command);
  // As workers where it can be, unless it is on the device whole.
  [[nodiscard]] DeviceMachine::KernelArrival describe(Command& command, bool whole);
  [[nodiscard]] bool alone(const Session& client) const;
  [[nodiscard]] bool in_company() const;
  [[nodiscard]] bool has_kernel(const Session& client) const;
  void on_device(const CommandPtr& command, cl_int status, cl_event event,
                 const std::shared_ptr<WorkerBatch>& batch = nullptr, cl_command_queue to = nullptr);
  void hear(const Completion& ended);
  void finish(const CommandPtr& command, cl_int status);
  void release_dependents(Command& command, cl_int status);
  [[nodiscard]] bool may_follow(const Command& command) const;
  cl_int enqueue(LaunchPlan& plan, cl_command_queue queue, cl_event* event);
  [[nodiscard]] DeviceTimes times_of(cl_event event, bool queued) const;
  void note_times(Command& command, const DeviceTimes& times);
  void compare_clocks(std::uint64_t ahead);
  [[nodiscard]] static std::uint64_t guessed_start(const Command& command, const Completion& ended);
  void guess_times(Command& command, const Completion& ended);
  [[nodiscard]] std::uint64_t now() const;

  Native& native_;
  ObjectCounts& census_;
  std::unique_ptr<policy::Policy> policy_;
  const bool pass_through_;
  const double short_alone_, short_in_company_;  // nanoseconds
  // Every worker is a batch, and its place is free when it is seen to have left. Where groups run long on few compute
  // units, who comes next is decided then, and nobody pays for a place that another still holds.
  const bool one_by_one_;

  DeferredRelease releases_;
  CleanupThread cleanup_;
  ControlWordPool words_;
  CompletionFlags completion_flags_;
  const std::uint32_t local_reserve_;             // bytes, of each group
  std::vector<Native_<cl_command_queue>> lanes_;  // that no batch has
  SpinMutex mutex_;
  DeviceMachine machine_;
  std::deque<CommandPtr> ready_;
  std::map<std::uint32_t, CommandPtr> running_;  // kernels that have arrived, by id
  std::vector<CommandPtr> orphaned_;             // kernels that run on without their clients
  KernelOutput output_;
  CommandPtr printing_;              // the launch whose output that is …
  std::deque<CommandPtr> printers_;  // … and those that wait to be it
  bool regroup_ = false;
  std::uint32_t errands_ = 0;                      // on the device
  std::uint64_t device_ahead_ = 0;                 // the device's clock less ours, modulo 2^64 …
  std::atomic<std::uint64_t> clocks_compared_{0};  // … and since when

  std::mutex news_mutex_;
  std::condition_variable news_;
  std::vector<Completion> ended_;
  std::atomic<bool> pending_{false};  // `ended_` is not empty, for who looks without the lock
  bool stop_ = false;
  std::thread listener_;
  std::vector<Line> lines_;                      // none is empty
  std::atomic<std::size_t> on_device_{0};        // in all lines
  std::atomic<std::uint64_t> lines_changed_{0};  // goes up when there is another event to look at
  std::vector<Watched> watched_;                 // the listener's …
  bool unsettled_ = false;                       // … and whether a line waits to be flushed, or has no event yet

  std::condition_variable cargo_there_;  // with news_mutex_
  std::deque<CommandPtr> cargo_;
  std::vector<std::thread> carriers_;
};

}  // namespace wm::runtime
