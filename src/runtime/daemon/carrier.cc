// Large transfers on devices with memory of their own: a thread makes the call and waits in it, outside the scheduler's
// lock. Everything before them in their queue has ended by then, and what comes after waits for them.
#include "runtime/daemon/scheduler.h"
#include "runtime/daemon/session.h"

namespace wm::runtime {

void Scheduler::carry(const NodePtr& node) {
  ++census_.events;
  node->submitted = now();
  if (node->slot != kNoSlot) node->client->show(node->slot, CL_RUNNING);
  {
    const std::lock_guard lock(news_mutex_);
    cargo_.push_back(node);
  }
  cargo_there_.notify_one();
}

void Scheduler::carry_on() {
  for (;;) {
    NodePtr node;
    {
      std::unique_lock lock(news_mutex_);
      cargo_there_.wait(lock, [this] { return stop_ || !cargo_.empty(); });
      if (cargo_.empty()) return;
      node = std::move(cargo_.front());
      cargo_.pop_front();
    }
    cl_event event = nullptr;
    cl_int status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (!node->client->closed()) status = node->run(node->queue->native.get(), &event);
    const std::lock_guard lock(mutex_);
    if (status == CL_SUCCESS && node->queue->timed) note_times(*node, times_of(event, true));
    if (event != nullptr) native_.cl.ReleaseEvent(event);
    --census_.events;
    node->ended = status == CL_SUCCESS;
    finish(node, status == CL_SUCCESS ? CL_COMPLETE : status);
    work();
  }
}

}  // namespace wm::runtime
