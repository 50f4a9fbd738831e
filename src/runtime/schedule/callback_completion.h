// Completions of devices whose driver calls back: the driver's thread stores them, and the completion
// thread reports them to the scheduler.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/device/object_counts.h"
#include "runtime/schedule/completion.h"

namespace wm::runtime {

class CallbackCompletion final : public CompletionSource {
 public:
  CallbackCompletion(CompletionHandler& handler, Submission& submission, const ObjectCounts& counts)
      : handler_(handler), submission_(submission), counts_(counts) {}
  ~CallbackCompletion() override { stop(); }

  void start() override;
  void stop() override;
  void submitted(const QueueHandle& queue, bool in_order, Completion completion) override;
  void note_alarm() override;
  void expect(const Command&) override {}
  [[nodiscard]] bool can_skip_event(const Command&) const override { return false; }

  // Reports the completions that the driver has announced, without waiting. For tests; otherwise the thread does.
  void deliver();

 private:
  // Owned by the driver from its submission until it calls back.
  struct Call : Submission::CompletionCallback {
    CallbackCompletion* self = nullptr;
    Completion completion;
  };
  static void on_complete(Submission::CompletionCallback& callback, EventHandle event, Status status);
  void run();

  CompletionHandler& handler_;
  Submission& submission_;
  const ObjectCounts& counts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Completion> reported_;
  std::optional<std::uint64_t> alarm_;
  std::atomic<bool> pending_{false};  // `reported_` is not empty; read without the lock
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime
