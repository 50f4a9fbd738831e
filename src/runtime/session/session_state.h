// The state of a client that the parts of its session share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "runtime/session/background_tasks.h"
#include "runtime/session/daemon_context.h"
#include "runtime/session/object_table.h"
#include "runtime/session/shared_regions.h"

namespace wm::runtime {

struct SessionState {
  SessionState(const DaemonContext& context, SharedArea area)
      : daemon(context), shared(std::move(area), context.limits.per_client()) {}

  // Writes the answer to a call into the client's chunk. A client that gives no chunk gets no answer.
  void answer(const MessageHeader& header, Status status, std::span<const std::byte> bytes = {});
  // Runs work that may take long on a thread of its own. The session lives until it has finished.
  void run_later(std::function<void()> work);
  [[nodiscard]] CompilingClient compiling_client() const {
    return {this, [this] { return closed.load(std::memory_order_acquire); }};
  }

  const DaemonContext daemon;
  SharedRegions shared;
  ObjectTables objects;
  BackgroundTasks tasks;
  std::shared_ptr<MemoryLimits::Share> share = std::make_shared<MemoryLimits::Share>();
  std::atomic<bool> closed{false};
  std::weak_ptr<Client> client;
  std::mutex answer_mutex;  // a client may have given the same chunk to two calls
};

}  // namespace wm::runtime
