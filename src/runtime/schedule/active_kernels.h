// The launches that the policy knows, and those that outlived their client. Guarded by the scheduler's lock.
#pragma once

#include <map>
#include <vector>

#include "runtime/schedule/command.h"

namespace wm::runtime {

class ActiveKernels {
 public:
  using Map = std::map<std::uint32_t, CommandPtr>;  // by the kernel's id

  void add(const CommandPtr& command) { kernels_[command->placement.kernel.index] = command; }
  void remove(policy::KernelId kernel) { kernels_.erase(kernel.index); }
  [[nodiscard]] CommandPtr find(policy::KernelId kernel) const { return kernels_.at(kernel.index); }
  [[nodiscard]] const Map& all() const { return kernels_; }
  [[nodiscard]] bool empty() const { return kernels_.empty(); }
  [[nodiscard]] std::vector<CommandPtr> of(const Client& client) const;

  [[nodiscard]] bool has_kernel(const Client& client) const;
  // No other client has a kernel.
  [[nodiscard]] bool is_isolated(const Client& client) const;
  [[nodiscard]] bool from_several_clients() const;

  // Kernels of clients that have gone, still on the device: they cannot be stopped.
  void add_orphan(const CommandPtr& command) { orphans_.push_back(command); }
  void remove_orphan(const CommandPtr& command) { std::erase(orphans_, command); }
  [[nodiscard]] const std::vector<CommandPtr>& orphans() const { return orphans_; }

 private:
  Map kernels_;
  std::vector<CommandPtr> orphans_;
};

}  // namespace wm::runtime
