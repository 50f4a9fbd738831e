// The launches that the policy knows, and those that outlived their client. Guarded by the scheduler's lock.
#pragma once

#include <map>
#include <vector>

#include "runtime/schedule/clock.h"
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
  // No other client has a kernel that the policy lets run.
  [[nodiscard]] bool has_device(const Client& client) const;
  [[nodiscard]] bool from_several_clients() const;
  // The set of kernels changes now. The clock is read only where kernels of several clients are on the device.
  void note_sharing(const Clock& clock) {
    if (from_several_clients()) shared_until_ = clock.now();
  }
  // When kernels of several clients were last on the device, on the daemon's clock; 0: never.
  [[nodiscard]] std::uint64_t shared_until() const { return shared_until_; }

  // Kernels of clients that have gone, still on the device: they cannot be stopped.
  void add_orphan(const CommandPtr& command) { orphans_.push_back(command); }
  void remove_orphan(const CommandPtr& command) { std::erase(orphans_, command); }
  [[nodiscard]] const std::vector<CommandPtr>& orphans() const { return orphans_; }

 private:
  Map kernels_;
  std::vector<CommandPtr> orphans_;
  std::uint64_t shared_until_ = 0;
};

}  // namespace wm::runtime
