// Completions of devices with memory of their own: a thread polls.
//
// Their drivers call back late and at a cost that every launch would pay, and a query of an event blocks every thread
// that submits. So one event per queue is polled, the last of those that may be reported together: on an
// in-order queue all commands before it have completed too. Consecutive launches without an event of their own share
// one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/schedule/active_kernels.h"
#include "runtime/schedule/admission.h"
#include "runtime/schedule/completion.h"
#include "runtime/schedule/device_clock.h"

namespace wm::runtime {

class PollingCompletion final : public CompletionSource {
 public:
  // The parts of the scheduler that polling depends on.
  struct Context {
    Submission& submission;
    const ActiveKernels& kernels;
    const Admission& admission;
    const Clock& clock;
    const DeviceClock& device_clock;
    bool free_timestamps = false;
    std::chrono::nanoseconds spins = spin_time();           // how long threads of this host spin before they sleep
    std::chrono::nanoseconds max_awake = kDefaultMaxAwake;  // the longest time for which they then stay awake
  };
  // `flags` may be null.
  PollingCompletion(CompletionHandler& handler, const Context& context, std::unique_ptr<CompletionFlags> flags)
      : handler_(handler), context_(context), flags_(std::move(flags)), awake_(context.max_awake) {}
  ~PollingCompletion() override { stop(); }

  void start() override;
  void stop() override;
  void observe_until(const std::function<bool()>& ready) override;
  void submitted(const QueueHandle& queue, bool in_order, Completion completion) override;
  void note_alarm() override;
  void expect(const Command& command) override;
  [[nodiscard]] bool can_skip_event(const Command& command) const override;

  // Polls once and reports completed commands; false: none has. For tests; otherwise the thread polls.
  bool poll();

 private:
  // The commands on a device queue that have not been seen to complete.
  struct Line {
    QueueHandle queue;
    bool in_order;
    std::deque<Completion> open;
  };
  struct Watched {
    const QueueObject* queue;
    EventHandle event;
    bool awaited = true;  // a client could be waiting for it
    std::uint64_t not_before =
        0;  // not polled before this time on the daemon's clock: it is expected to run until then
    Status state = status::kQueued;
    std::optional<CompletionFlags::Flag> flag;
  };
  void enqueue_flag(const Line& line, Completion& completion);
  void flush_after(const Line& line, const Completion& completion);
  void choose_events();
  void choose_event(Line& line);
  [[nodiscard]] static std::size_t last_to_report(const Line& line);
  [[nodiscard]] bool is_awaited(const Line& line, std::size_t last) const;
  // Puts a marker behind the last command, where that has no event.
  Status make_observable(Line& line);
  [[nodiscard]] Line* find(const QueueObject* queue);
  // Queries the driver only if there is no flag or if `query_driver`, which finds errors of commands with flags.
  void look_at(Watched& watched, bool query_driver) const;
  // Chooses the events that the calling thread watches, and returns `changes_` at that time.
  [[nodiscard]] std::uint64_t choose();
  [[nodiscard]] bool alarm_due() const {
    const std::uint64_t alarm = alarm_.load(std::memory_order_relaxed);
    return alarm != kNoAlarm && alarm <= context_.clock.now();
  }
  // How often one thread looks at the device.
  struct Pace {
    std::uint64_t last_activity = 0, driver_queried = 0;
  };
  // Polls until a command has completed, the events to watch have changed, an alarm is due, or `ready`.
  template <std::predicate Ready>
  bool look_until(Ready ready, std::uint64_t known_changes, Pace& pace);
  // Watches the events that were chosen, and reports what has completed or is due. With `observing_` held.
  template <std::predicate Ready>
  void observe(std::uint64_t known_changes, Pace& pace, Ready ready);
  // Removes the command from its line, on an in-order queue with all commands before it.
  void take(const Watched& watched, std::vector<Completion>& completed);
  // Asks the driver about a completed event, without the lock: each query takes microseconds.
  void query(Completion& completion) const;
  // Reports the watched commands that have completed, and with them that an alarm may be due.
  void deliver();
  // False: the thread must end.
  bool wait_for_work();
  void run();

  CompletionHandler& handler_;
  const Context context_;
  const std::unique_ptr<CompletionFlags> flags_;
  std::vector<Line> lines_;                // none is empty
  std::atomic<std::size_t> on_device_{0};  // in all lines
  std::atomic<std::uint64_t> changes_{0};  // increases when the events to poll change
  SpinMutex observing_;                    // the thread that observes holds it; guards the next two fields
  std::vector<Watched> watched_;
  bool unsettled_ = false;  // a line waits to be flushed, or has no event yet
  static constexpr std::uint64_t kAwake = 0, kNoAlarm = ~std::uint64_t{0};
  std::atomic<std::uint64_t> alarm_{kNoAlarm};  // when the policy asked to be called
  // The alarm for which the polling thread sleeps. Before it runs it counts as asleep.
  std::atomic<std::uint64_t> asleep_until_{kNoAlarm};
  AwakeTime awake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime
