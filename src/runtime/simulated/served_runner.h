// Runs launches on the machine of a daemon that several programs share.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/simulated/kernel_runner.h"
#include "runtime/simulated/served_connection.h"

namespace wm::runtime {

class ServedRunner final : public KernelRunner {
 public:
  explicit ServedRunner(ServedConnection& connection) : connection_(connection) {}

  KernelResult run(const exec::Grid& grid, const LoadedKernel& kernel, const StreamTerms& terms) override;
  void set_goal(const std::string& kernel, double ipc) override;
  [[nodiscard]] std::optional<std::int64_t> now() override { return connection_.now(); }
  Result<void> module_loaded(const LoadedModule& module, std::string_view ptx) override;
  void module_unloaded(const LoadedModule& module) override;
  void asked_in_vain() override { (void)connection_.call(ServedOp::poll, {}); }

 private:
  ServedConnection& connection_;
};

}  // namespace wm::runtime
