// Work that the client does when a command has completed: copying data that was read to the application's memory,
// and freeing the chunk of shared memory that carried it. Safe for use by several threads.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <span>

#include "runtime/client/opencl/connection/event_table.h"
#include "runtime/client/opencl/connection/shared_memory_pool.h"

namespace wm::runtime::client {

class PendingCompletions {
 public:
  PendingCompletions(EventTable& events, SharedMemoryPool& memory) : events_(events), memory_(memory) {}

  // When the command of `event` has completed, `deliver` is called if it succeeded, and the chunk is freed. The event
  // is retained until then. `host` is the memory that `deliver` writes.
  void add(EventId event, const Chunk& chunk, std::span<const std::byte> host, std::function<void()> deliver);
  // Does the work of all commands that have completed.
  void process();

  // The last added command that will deliver into these bytes; kNoEvent: none does.
  [[nodiscard]] EventId last_delivery_into(const void* host, std::size_t size);
  // The oldest command that holds a chunk of the staging area; kNoEvent: none does.
  [[nodiscard]] EventId oldest_staging_user();

 private:
  struct Completion {
    EventId event;
    Chunk chunk;
    std::span<const std::byte> host;
    std::function<void()> deliver;
  };

  EventTable& events_;
  SharedMemoryPool& memory_;
  std::mutex mutex_;
  std::list<Completion> completions_;
  std::atomic<std::size_t> count_{0};  // lets `process` return without the lock when there is nothing to do
};

}  // namespace wm::runtime::client
