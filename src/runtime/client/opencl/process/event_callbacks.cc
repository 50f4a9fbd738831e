#include "runtime/client/opencl/process/event_callbacks.h"

namespace wm::runtime::client {

EventCallbacks::~EventCallbacks() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  added_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void EventCallbacks::add(Connection& connection, cl_event event, cl_int state, Function function, void* data) {
  const std::lock_guard lock(mutex_);
  callbacks_.push_back({Retained<_cl_event>(event), state, function, data});
  if (!thread_.joinable()) thread_ = std::thread([this, &connection] { run(connection); });
  added_.notify_all();
}

void EventCallbacks::run(Connection& connection) {
  for (;;) {
    const std::uint32_t seen = connection.changes();
    std::list<Callback> due;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return stop_ || !callbacks_.empty(); });
      if (stop_) return;
      for (auto it = callbacks_.begin(); it != callbacks_.end();) {
        const auto next = std::next(it);
        if (connection.state(it->event->id) <= it->state) due.splice(due.end(), callbacks_, it);
        it = next;
      }
    }
    for (Callback& c : due) {
      const cl_int state = connection.state(c.event->id);
      c.function(c.event.get(), state < 0 ? state : c.state, c.data);
    }
    if (due.empty()) connection.wait_for_change(seen);
  }
}

}  // namespace wm::runtime::client
