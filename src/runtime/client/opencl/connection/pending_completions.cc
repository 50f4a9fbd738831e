#include "runtime/client/opencl/connection/pending_completions.h"

namespace wm::runtime::client {

void PendingCompletions::add(EventId event, const Chunk& chunk, std::span<const std::byte> host,
                             std::function<void()> deliver) {
  const std::lock_guard lock(mutex_);
  completions_.push_back({event, chunk, host, std::move(deliver)});
  ++count_;
  events_.retain(event);
}

void PendingCompletions::process() {
  if (count_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(mutex_);
  for (auto it = completions_.begin(); it != completions_.end();) {
    const std::int32_t state = events_.state(it->event);
    if (state > 0) {
      ++it;
      continue;
    }
    if (state == 0 && it->deliver) it->deliver();
    if (it->chunk.size != 0) memory_.free(it->chunk);
    events_.release(it->event);
    it = completions_.erase(it);
    --count_;
  }
}

EventId PendingCompletions::last_delivery_into(const void* host, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(host);
  EventId event = kNoEvent;
  const std::lock_guard lock(mutex_);
  for (const Completion& c : completions_) {
    const std::byte* begin = c.host.data();
    if (!c.host.empty() && begin < first + size && first < begin + c.host.size()) event = c.event;
  }
  return event;
}

EventId PendingCompletions::oldest_staging_user() {
  const std::lock_guard lock(mutex_);
  for (const Completion& c : completions_) {
    if (c.chunk.region == 0 && c.chunk.size != 0) return c.event;
  }
  return kNoEvent;
}

}  // namespace wm::runtime::client
