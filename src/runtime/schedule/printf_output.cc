// Kernels that print: one at a time, so that what comes out is known to be its client's.
#include <algorithm>
#include <cstring>

#include "runtime/session/session.h"

namespace wm::runtime {

bool Scheduler::waits_to_print(const CommandPtr& command) {
  if (!command->launch || !command->launch->prints) return false;
  if (printing_) return true;
  printing_ = command;
  output_.begin();
  return false;
}

void Scheduler::end_printing(const CommandPtr& command) {
  // Drivers that keep it to themselves till then.
  if (!native_.in_host_memory() && command->status == CL_COMPLETE) native_.cl.Finish(command->queue->native.get());
  const std::string text = output_.end();
  // One whose client has gone may have printed into it.
  const bool pure =
      std::none_of(orphaned_.begin(), orphaned_.end(), [](const CommandPtr& n) { return n->launch->prints; });
  const auto room = command->launch->printed;
  if (pure && !command->client->closed() && room.size() > sizeof(std::uint64_t)) {
    const std::uint64_t size = std::min(text.size(), room.size() - sizeof size);
    std::memcpy(room.data(), &size, sizeof size);
    std::memcpy(room.data() + sizeof size, text.data(), size);
  }
  printing_.reset();
  if (printers_.empty()) return;
  ready_.push_back(std::move(printers_.front()));
  printers_.pop_front();
}

void Scheduler::drop_printers(const Session& client) {
  const auto theirs = std::stable_partition(
      printers_.begin(), printers_.end(), [&](const CommandPtr& command) { return command->client.get() != &client; });
  const std::vector<CommandPtr> gone(theirs, printers_.end());
  printers_.erase(theirs, printers_.end());
  for (const CommandPtr& command : gone) finish(command, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace wm::runtime
