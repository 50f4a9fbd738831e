#include "policy/algorithm/alternating_clients.h"

#include <algorithm>

namespace wm::policy {

bool AlternatingClients::note(const Machine& gpu, bool is_measuring) {
  bool has_another = false;
  for (const Kernel& k : gpu.kernels()) {
    const auto known = clients_.find(k.id);
    if (known == clients_.end() || k.launch == 0) {
      clients_[k.id] = {k.function, 0, k.max_blocks_per_sm, false};
      continue;
    }
    Client& client = known->second;
    client.fewest_blocks = std::min(client.fewest_blocks, k.max_blocks_per_sm);
    if (client.function == k.function) continue;
    client.function = k.function;
    if (client.alternates) continue;
    has_another = true;
    if (is_measuring) ++client.changes;
    client.alternates = client.changes >= kChanges;
  }
  return has_another;
}

void AlternatingClients::note_measured() {
  for (auto& [id, client] : clients_) client.changes = 0;
}

bool AlternatingClients::contains(KernelId client) const {
  const auto known = clients_.find(client);
  return known != clients_.end() && known->second.alternates;
}

std::uint32_t AlternatingClients::max_blocks(const Kernel& kernel) const {
  return contains(kernel.id) ? std::max(clients_.at(kernel.id).fewest_blocks, 1U) : kernel.max_blocks_per_sm;
}

}  // namespace wm::policy
