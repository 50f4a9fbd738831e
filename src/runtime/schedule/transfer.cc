// Large transfers on devices with memory of their own: a thread makes the call and waits in it, outside the scheduler's
// lock. Everything before them in their queue has ended by then, and what comes after waits for them.
#include "runtime/schedule/scheduler.h"
#include "runtime/session/session.h"

namespace wm::runtime {

void Scheduler::carry(const CommandPtr& command) {
  ++census_.events;
  command->submitted = now();
  if (command->slot != kNoEvent) command->client->show(command->slot, CL_RUNNING);
  {
    const std::lock_guard lock(news_mutex_);
    cargo_.push_back(command);
  }
  cargo_there_.notify_one();
}

void Scheduler::carry_on() {
  for (;;) {
    CommandPtr command;
    {
      std::unique_lock lock(news_mutex_);
      cargo_there_.wait(lock, [this] { return stop_ || !cargo_.empty(); });
      if (cargo_.empty()) return;
      command = std::move(cargo_.front());
      cargo_.pop_front();
    }
    cl_event event = nullptr;
    cl_int status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (!command->client->closed()) status = command->run(command->queue->native.get(), &event);
    const std::lock_guard lock(mutex_);
    if (status == CL_SUCCESS && command->queue->timed) note_times(*command, times_of(event, true));
    if (event != nullptr) native_.cl.ReleaseEvent(event);
    --census_.events;
    command->ended = status == CL_SUCCESS;
    finish(command, status == CL_SUCCESS ? CL_COMPLETE : status);
    work();
  }
}

}  // namespace wm::runtime
