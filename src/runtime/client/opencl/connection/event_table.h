// The client's use of the event records in the shared area: allocation, reference counts and waiting. The daemon
// publishes the progress of commands in the records. Safe for use by several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/client/opencl/connection/channel.h"

namespace wm::runtime::client {

class EventTable {
 public:
  explicit EventTable(Channel& channel);

  // An event with one reference, which the caller holds; kNoEvent: all are in use.
  EventId allocate(std::int32_t initial_state);
  void retain(EventId event);
  // An event is free again when it has no reference and its command has completed.
  void release(EventId event);

  [[nodiscard]] EventRecord& record(EventId event) const { return channel_.area().events()[event]; }
  // The state that was published last: an execution status of OpenCL.
  [[nodiscard]] std::int32_t state(EventId event) const {
    return static_cast<std::int32_t>(record(event).state.load(std::memory_order_acquire));
  }
  void set_state(EventId event, std::int32_t state);
  // Returns when the state is at most `until`, or with kDaemonLost.
  std::int32_t wait(EventId event, std::int32_t until);

  // A number that grows whenever any event changes.
  [[nodiscard]] std::uint32_t changes() const { return channel_.area().header().changes.load(); }
  // Returns when `changes` differs from `seen`, or after kLostCheckInterval.
  void wait_for_change(std::uint32_t seen);

 private:
  void collect_retired();

  Channel& channel_;
  std::mutex mutex_;  // guards the fields below
  std::vector<EventId> free_;
  std::vector<std::uint8_t> references_ = std::vector<std::uint8_t>(kMaxEvents, 0);
  std::vector<EventId> retired_;  // without references, but their commands have not completed
};

}  // namespace wm::runtime::client
