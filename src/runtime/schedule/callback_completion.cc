#include "runtime/schedule/callback_completion.h"

#include <chrono>

namespace wm::runtime {
namespace {

bool is_sooner(std::optional<std::uint64_t> alarm, std::optional<std::uint64_t> than) {
  return alarm && (!than || *alarm < *than);
}

}  // namespace

void CallbackCompletion::start() {
  thread_ = std::thread([this] { run(); });
}

void CallbackCompletion::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CallbackCompletion::submitted(const QueueHandle& queue, bool, Completion completion) {
  const EventHandle event = completion.event;
  auto call = std::make_unique<Call>();
  call->completed = &CallbackCompletion::on_complete;
  call->self = this;
  call->completion = std::move(completion);
  submission_.call_when_complete(event, *call.release());
  submission_.flush(*queue);
}

void CallbackCompletion::on_complete(Submission::CompletionCallback& callback, EventHandle, Status status) {
  const std::unique_ptr<Call> call(static_cast<Call*>(&callback));
  CallbackCompletion& self = *call->self;
  call->completion.status = status;
  {
    const std::lock_guard lock(self.mutex_);
    self.reported_.push_back(std::move(call->completion));
    self.pending_.store(true, std::memory_order_release);
  }
  self.changed_.notify_one();
}

void CallbackCompletion::note_alarm() {
  const std::optional<std::uint64_t> when = handler_.next_alarm();
  if (when == alarm_) return;  // the alarm is written with the scheduler's lock held, as here
  {
    const std::lock_guard lock(mutex_);
    const bool sooner = is_sooner(when, alarm_);
    alarm_ = when;
    if (!sooner) return;
  }
  changed_.notify_one();
}

void CallbackCompletion::deliver() {
  std::vector<Completion> completions;
  {
    const std::lock_guard lock(mutex_);
    completions.swap(reported_);
    pending_.store(false, std::memory_order_relaxed);
  }
  const FirstLock lock(handler_.mutex());
  handler_.complete(completions);
}

void CallbackCompletion::run() {
  using SystemClock = std::chrono::steady_clock;
  for (;;) {
    bool busy = false;  // a command is on the device
    {
      const FirstLock lock(handler_.mutex());
      note_alarm();
      busy = counts_.events != 0;
    }
    if (busy) spin_until([this] { return pending_.load(std::memory_order_acquire); });
    {
      std::unique_lock lock(mutex_);
      const std::optional<std::uint64_t> alarm = alarm_;
      const auto changed = [&] { return stop_ || !reported_.empty() || is_sooner(alarm_, alarm); };
      if (alarm) {
        changed_.wait_until(lock, SystemClock::time_point(SystemClock::duration(*alarm)), changed);
      } else {
        changed_.wait(lock, changed);
      }
      if (stop_ && reported_.empty()) return;
    }
    deliver();
  }
}

}  // namespace wm::runtime
