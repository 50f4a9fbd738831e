// The client's connection to the daemon: messages, events and shared memory. Safe for use by several threads.
//
// When the connection is lost, every call returns kDaemonLost, every event reads as failed with it, and nothing waits.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/client/opencl/connection/channel.h"
#include "runtime/client/opencl/connection/event_table.h"
#include "runtime/client/opencl/connection/pending_completions.h"
#include "runtime/client/opencl/connection/shared_memory_pool.h"

namespace wm::runtime::client {

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> connect(const std::string& path);

  // Sends a message and waits for the answer, whose bytes go to `answer` if it is given. Returns the daemon's status.
  std::int32_t call(Writer& message, std::vector<std::byte>* answer = nullptr);
  // Sends a message that is not answered. False: the connection is lost.
  bool post(Writer& message) { return channel_->post(message); }
  [[nodiscard]] bool lost() { return channel_->lost(); }
  // The result of the device's own driver for a call that the standard does not allow; 0: the driver accepts it.
  [[nodiscard]] std::int32_t native_result(NonstandardCall call) const { return channel_->native_result(call); }
  [[nodiscard]] std::uint64_t new_object_id() { return ++last_object_id_; }

  // --- events
  EventId allocate_event(std::int32_t initial_state) { return events_.allocate(initial_state); }
  void retain_event(EventId event) { events_.retain(event); }
  void release_event(EventId event) { events_.release(event); }
  // The state now. Data that a completed command read has been delivered when this returns.
  std::int32_t state(EventId event);
  // Waits until the command has completed, or has reached the state `until`, and returns its state.
  std::int32_t wait(EventId event, std::int32_t until = 0);
  [[nodiscard]] const EventRecord& record(EventId event) const { return events_.record(event); }
  void set_state(EventId event, std::int32_t state) { events_.set_state(event, state); }
  [[nodiscard]] std::uint32_t changes() const { return events_.changes(); }
  void wait_for_change(std::uint32_t seen) { events_.wait_for_change(seen); }

  // --- shared memory
  enum class IfFull { wait, use_region };
  // A chunk of at least `size` bytes. If the staging area is full, waits for earlier transfers or takes a region. A
  // chunk of size 0: no memory is left, or the connection is lost.
  Chunk allocate(std::uint64_t size, IfFull if_full);
  void free(const Chunk& chunk) { memory_.free(chunk); }
  [[nodiscard]] std::byte* address(const Chunk& chunk) { return memory_.address(chunk); }
  // A region for a buffer to be stored in; 0: the device has memory of its own, or none is left.
  std::uint32_t request_buffer_region(std::uint64_t size, Mapping& map);

  // --- completions, as in PendingCompletions
  void on_completion(EventId event, const Chunk& chunk, std::span<const std::byte> host = {},
                     std::function<void()> deliver = {}) {
    completions_.add(event, chunk, host, std::move(deliver));
  }
  void process_completions() { completions_.process(); }
  // Whether an earlier command will still write into these bytes; the second function waits until none will.
  [[nodiscard]] bool has_pending_delivery(const void* host, std::size_t size);
  void wait_for_deliveries(const void* host, std::size_t size);

 private:
  explicit Connection(std::unique_ptr<Channel> channel);
  bool wait_for_staging();

  std::unique_ptr<Channel> channel_;
  EventTable events_;
  SharedMemoryPool memory_;
  PendingCompletions completions_;
  std::atomic<std::uint64_t> last_object_id_{0};
};

}  // namespace wm::runtime::client
