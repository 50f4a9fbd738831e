#include "policy/algorithm/members.h"

#include <algorithm>

namespace wm::policy {

std::vector<Kernel> by_client(const Machine& gpu) {
  const auto all = gpu.kernels().first(std::min(gpu.kernels().size(), gpu.sms().size()));
  std::vector<Kernel> sorted(all.begin(), all.end());
  std::sort(sorted.begin(), sorted.end(), [](const Kernel& a, const Kernel& b) { return a.id < b.id; });
  return sorted;
}

bool Members::changed(const Machine& gpu) {
  std::vector<std::pair<KernelId, std::uint32_t>> now;
  for (const Kernel& k : gpu.kernels()) now.emplace_back(k.id, k.function);
  std::sort(now.begin(), now.end());
  if (now == seen_) return false;
  other_clients_ = !std::equal(now.begin(), now.end(), seen_.begin(), seen_.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  seen_ = std::move(now);
  return true;
}

}  // namespace wm::policy
