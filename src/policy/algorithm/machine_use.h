// The use of the machine by each kernel, and an order of launches by it.
//
// The use is counted in blocks times cycles over the blocks that fill the machine: in time of the whole machine.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "policy/policy.h"

namespace wm::policy {

class MachineUse {
 public:
  // To be called after charge(): the kernel's blocks count from now on.
  void begin(const Kernel& kernel, const Machine& gpu) {
    clients_[kernel.id] = {static_cast<double>(std::max(kernel.max_blocks_per_sm, 1U)) * gpu.sms().size(), 0, true};
  }
  void end(KernelId id) { clients_[id].is_here = false; }
  [[nodiscard]] bool is_here(KernelId id) const {
    const auto client = clients_.find(id);
    return client != clients_.end() && client->second.is_here;
  }

  // Calls add(id, cycles) with what each kernel has used since the last call. A kernel that has ended, and one that has
  // started blocks since, had at least as many as were seen before.
  template <typename Add>
  void charge(const Machine& gpu, Add add) {
    const auto passed = static_cast<double>((gpu.now() - charged_).count);
    charged_ = gpu.now();
    for (auto& [id, client] : clients_) {
      if (!client.is_here) continue;
      const Kernel* k = gpu.find(id);
      const std::uint32_t resident = k == nullptr ? 0 : k->resident;
      add(id, passed * std::max(resident, client.seen) / client.places);
      client.seen = resident;
    }
  }

 private:
  struct Client {
    double places = 1;       // blocks that fill the machine
    std::uint32_t seen = 0;  // blocks on the machine at the last charge
    bool is_here = false;
  };

  Cycles charged_;
  std::map<KernelId, Client> clients_;
};

// Orders launches by priority, then by the lowest key(id), then by the latest arrival: kernels that arrived before have
// had the machine. Returns the order.
template <typename Key>
std::vector<KernelId> order_launches(Machine& gpu, Key key) {
  std::vector<Kernel> kernels(gpu.kernels().begin(), gpu.kernels().end());
  std::stable_sort(kernels.begin(), kernels.end(), [&](const Kernel& a, const Kernel& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    const double x = key(a.id), y = key(b.id);
    return x != y ? x < y : a.arrived > b.arrived;
  });
  std::vector<KernelId> first;
  for (const Kernel& k : kernels) first.push_back(k.id);
  gpu.order(first);
  return first;
}

}  // namespace wm::policy
