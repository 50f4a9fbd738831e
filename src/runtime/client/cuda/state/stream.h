// Streams and events: positions in the work of a context.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/simulated/work_queue.h"

namespace wm::cuda {

class Context;
class GraphNode;
class GreenContext;
struct Capture;

class Stream {
 public:
  Stream(Context& context, unsigned flags, int priority, std::uint64_t id)
      : context(context), flags(flags), priority(priority), id(id) {}

  Context& context;
  const unsigned flags;
  const int priority;
  const std::uint64_t id;
  GreenContext* green = nullptr;                            // null: it is a stream of an ordinary context
  std::shared_ptr<const std::vector<std::uint32_t>> sms{};  // the SMs that its kernels run on; empty: all
  bool is_legacy = false;                                   // the default stream that others wait for
  // The work that the stream's next work follows; guarded by the context's order.
  std::vector<runtime::WorkTicket> last;
  // The capture that the stream takes part in, and its last nodes; guarded by the captures.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> captured;
};

// The moment at which the work before a record was done.
struct EventRecord {
  std::atomic<std::int64_t> nanoseconds{0};
};

class Event {
 public:
  Event(const Context* context, unsigned flags) : context(context), flags(flags) {}

  const Context* const context;
  const unsigned flags;

  struct State {
    bool recorded = false;
    runtime::WorkTicket ticket{};
    std::shared_ptr<EventRecord> record{};
    // Set where the event was recorded in a capturing stream.
    std::shared_ptr<Capture> capture{};
    std::vector<GraphNode*> nodes{};
  };
  [[nodiscard]] State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  void set(State state) {
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }

 private:
  mutable std::mutex mutex_;
  State state_;
};

}  // namespace wm::cuda
