// The sources of completions: they tell the scheduler that the device has completed a command.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "runtime/device/completion_flags.h"
#include "runtime/schedule/command.h"
#include "runtime/schedule/spin_mutex.h"

namespace wm::runtime {

// A command on the device, or a batch of workers of one; later, how it ended.
struct Completion {
  CommandPtr command;
  EventHandle event = nullptr;  // null: the event of a later command on its queue reports it
  Status status = status::kQueued;
  std::shared_ptr<WorkerBatch> batch;
  double expected = 0;                // nanoseconds on the device
  std::uint64_t observed = 0;         // when polling saw it complete, on the daemon's clock
  std::size_t observed_together = 1;  // number of completions seen at once on a queue: this one and those after it
  std::optional<DeviceTimes> times;   // where the event has been asked already
  std::optional<CompletionFlags::Flag> flag;
};

// The scheduler, as the source of completions sees it.
class CompletionHandler {
 public:
  virtual ~CompletionHandler() = default;
  // The scheduler's lock.
  virtual SpinMutex& mutex() = 0;
  // When the policy asked to be called next. With the lock held.
  [[nodiscard]] virtual std::optional<std::uint64_t> next_alarm() const = 0;
  // Handles completions, alarms that are due, and everything that follows. With the lock held.
  virtual void complete(std::span<const Completion> completions) = 0;
};

class CompletionSource {
 public:
  virtual ~CompletionSource() = default;

  virtual void start() = 0;
  // Ends its thread. Nothing is on the device any more.
  virtual void stop() = 0;
  // The calling thread observes completions while the source's own thread is asleep, until `ready` or nothing is on the
  // device: waking a thread takes longer than a short command.
  virtual void observe_until(const std::function<bool()>& /*ready*/) {}

  // --- with the scheduler's lock held
  // A command was submitted; `in_order`: it completes after the earlier commands of its queue.
  virtual void submitted(const QueueHandle& queue, bool in_order, Completion completion) = 0;
  // The handler's next_alarm() may have changed: complete() is to be called then, whatever is on the device.
  virtual void note_alarm() = 0;
  // Called when a client or another command begins to wait for this command.
  virtual void expect(const Command& command) = 0;
  // Whether work that only uses the device needs no event, because the event of later work will report it.
  [[nodiscard]] virtual bool can_skip_event(const Command& command) const = 0;
};

}  // namespace wm::runtime
