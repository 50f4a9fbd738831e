#include "runtime/client/opencl/connection/event_table.h"

#include <algorithm>

namespace wm::runtime::client {
namespace {

// Retired events are searched for completed ones when there are more than this.
constexpr std::size_t kMaxRetired = 8192;

}  // namespace

EventTable::EventTable(Channel& channel) : channel_(channel) {
  free_.reserve(kMaxEvents);
  for (EventId event = kMaxEvents; event-- > 0;) free_.push_back(event);
}

EventId EventTable::allocate(std::int32_t initial_state) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) collect_retired();
  if (free_.empty()) return kNoEvent;
  const EventId event = free_.back();
  free_.pop_back();
  references_[event] = 1;
  EventRecord& r = record(event);
  r.queued = r.submitted = r.started = r.ended = 0;
  r.state.store(static_cast<std::uint32_t>(initial_state), std::memory_order_release);
  return event;
}

void EventTable::retain(EventId event) {
  const std::lock_guard lock(mutex_);
  ++references_[event];
}

void EventTable::release(EventId event) {
  const std::lock_guard lock(mutex_);
  if (--references_[event] != 0) return;
  (state(event) <= 0 ? free_ : retired_).push_back(event);
  if (retired_.size() > kMaxRetired) collect_retired();
}

void EventTable::collect_retired() {
  const auto completed =
      std::stable_partition(retired_.begin(), retired_.end(), [this](EventId e) { return state(e) > 0; });
  free_.insert(free_.end(), completed, retired_.end());
  retired_.erase(completed, retired_.end());
}

void EventTable::set_state(EventId event, std::int32_t state) {
  publish(channel_.area().header(), record(event), state);
}

std::int32_t EventTable::wait(EventId event, std::int32_t until) {
  EventRecord& r = record(event);
  // A CPU device needs the processor for the commands themselves. A GPU's own driver would spin all the time, so
  // spinning longer for a GPU takes nothing away where processors are free.
  const bool spin_longer = !channel_.device_uses_host_memory() && spin_time() >= std::chrono::microseconds(50);
  while (state(event) > until) {
    if (spin_until([&] { return state(event) <= until; }, spin_time() * (spin_longer ? 4 : 1))) break;
    r.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t now = r.state.load(std::memory_order_seq_cst);
    if (static_cast<std::int32_t>(now) > until) sleep_on(r.state, now, kLostCheckInterval);
    r.sleepers.fetch_sub(1, std::memory_order_seq_cst);
    if (state(event) > until && channel_.lost()) return kDaemonLost;
  }
  return state(event);
}

void EventTable::wait_for_change(std::uint32_t seen) {
  AreaHeader& header = channel_.area().header();
  header.watchers.fetch_add(1, std::memory_order_seq_cst);
  if (header.changes.load(std::memory_order_seq_cst) == seen) sleep_on(header.changes, seen, kLostCheckInterval);
  header.watchers.fetch_sub(1, std::memory_order_seq_cst);
  (void)channel_.lost();
}

}  // namespace wm::runtime::client
