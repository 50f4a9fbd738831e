#include "policy/algorithm/paused_clients.h"

#include <algorithm>

#include "policy/algorithm/learned_sets.h"

namespace wm::policy {

void PausedClients::note_plan(const Machine& gpu) {
  planned_ = active_clients(gpu);
  absent_.clear();
  some_absent_ = false;
}

bool PausedClients::differs(const Machine& gpu) const { return active_clients(gpu) != planned_; }

Cycles PausedClients::absent_since(const std::vector<KernelId>& active, Cycles now) {
  Cycles earliest = now;
  for (const KernelId id : planned_) {
    if (std::binary_search(active.begin(), active.end(), id)) {
      absent_.erase(id);
    } else {
      earliest = std::min(earliest, absent_.try_emplace(id, now).first->second);
    }
  }
  return earliest;
}

bool PausedClients::postpones(Machine& gpu) {
  some_absent_ = false;
  const auto active = active_clients(gpu);
  const bool has_unplanned = !std::includes(planned_.begin(), planned_.end(), active.begin(), active.end());
  const Cycles since = absent_since(active, gpu.now());
  // By itself a client has no plan that could be kept.
  if (grace_.count == 0 || planned_.size() < 2 || has_unplanned || active == planned_) return false;
  if (gpu.now() - since >= grace_) return false;
  gpu.wake_at(since + grace_, kTag);
  some_absent_ = true;
  return true;
}

}  // namespace wm::policy
