// Kernels that print: one at a time, so that what comes out is known to be its client's.
#include <algorithm>
#include <cstring>

#include "runtime/daemon/session.h"

namespace wm::runtime {

bool Scheduler::waits_to_print(const NodePtr& node) {
  if (!node->launch || !node->launch->prints) return false;
  if (printing_) return true;
  printing_ = node;
  output_.begin();
  return false;
}

void Scheduler::end_printing(const NodePtr& node) {
  // Drivers that keep it to themselves till then.
  if (!native_.in_host_memory() && node->status == CL_COMPLETE) native_.cl.Finish(node->queue->native.get());
  const std::string text = output_.end();
  // One whose client has gone may have printed into it.
  const bool pure =
      std::none_of(left_behind_.begin(), left_behind_.end(), [](const NodePtr& n) { return n->launch->prints; });
  const auto room = node->launch->printed;
  if (pure && !node->client->closed() && room.size() > sizeof(std::uint64_t)) {
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
  const auto theirs = std::stable_partition(printers_.begin(), printers_.end(),
                                            [&](const NodePtr& node) { return node->client.get() != &client; });
  const std::vector<NodePtr> gone(theirs, printers_.end());
  printers_.erase(theirs, printers_.end());
  for (const NodePtr& node : gone) finish(node, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace wm::runtime
