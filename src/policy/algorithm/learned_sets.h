// Keeps what a policy has learned about sets of clients. A client whose host pauses between two launches leaves the
// set of active kernels and returns; the policy then continues where it was, instead of beginning anew.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

// The clients with an active launch, in the order of their ids.
[[nodiscard]] inline std::vector<KernelId> active_clients(const Machine& gpu) {
  std::vector<KernelId> ids;
  for (const Kernel& k : gpu.kernels()) ids.push_back(k.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

// The kernels whose blocks will start on each SM, once it is ready; kNoKernel: the SM is shared, or switched off.
[[nodiscard]] inline std::vector<KernelId> eventual_owners(const Machine& gpu) {
  std::vector<KernelId> owners;
  for (const Sm& sm : gpu.sms()) owners.push_back(eventual_owner(sm));
  return owners;
}

template <typename Learned>
class LearnedSets {
 public:
  // The oldest set is dropped when there are too many: programs come and go on a machine that runs for days.
  void store(std::vector<KernelId> clients, Learned learned) {
    std::erase_if(sets_, [&](const auto& set) { return set.first == clients; });
    if (sets_.size() == kMaxSets) sets_.pop_front();
    sets_.emplace_back(std::move(clients), std::move(learned));
  }
  [[nodiscard]] std::optional<Learned> find(const std::vector<KernelId>& clients) const {
    for (const auto& [known, learned] : sets_) {
      if (known == clients) return learned;
    }
    return {};
  }

 private:
  static constexpr std::size_t kMaxSets = 32;
  std::deque<std::pair<std::vector<KernelId>, Learned>> sets_;
};

}  // namespace wm::policy
