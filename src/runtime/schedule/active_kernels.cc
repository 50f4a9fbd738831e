#include "runtime/schedule/active_kernels.h"

#include <algorithm>

namespace wm::runtime {

std::vector<CommandPtr> ActiveKernels::of(const Client& client) const {
  std::vector<CommandPtr> found;
  for (const auto& [id, command] : kernels_) {
    if (command->client.get() == &client) found.push_back(command);
  }
  return found;
}

bool ActiveKernels::has_kernel(const Client& client) const {
  return std::any_of(kernels_.begin(), kernels_.end(),
                     [&](const auto& k) { return k.second->client.get() == &client; });
}

bool ActiveKernels::is_isolated(const Client& client) const {
  return std::all_of(kernels_.begin(), kernels_.end(),
                     [&](const auto& k) { return k.second->client.get() == &client; });
}

bool ActiveKernels::has_device(const Client& client) const {
  return std::all_of(kernels_.begin(), kernels_.end(),
                     [&](const auto& k) { return k.second->client.get() == &client || k.second->queue->is_held; });
}

bool ActiveKernels::from_several_clients() const {
  return !kernels_.empty() && !is_isolated(*kernels_.begin()->second->client);
}

}  // namespace wm::runtime
