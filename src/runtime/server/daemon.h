// The device and everything that serves it: the parts of the daemon that do not depend on sockets.
#pragma once

#include <future>
#include <memory>
#include <string>

#include "rewrite/rewriter.h"
#include "runtime/server/serve_options.h"
#include "runtime/session/daemon_context.h"

namespace wm::runtime {

class Daemon {
 public:
  // `policy_name`: as shown to users.
  Daemon(const ServeOptions& options, std::unique_ptr<Backend> backend, std::unique_ptr<policy::Policy> policy,
         std::string policy_name);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  [[nodiscard]] DaemonContext context();
  // The results of the device's own driver for nonstandard calls. Waits until the sandbox has tried them.
  const NativeResults& native_results();

  [[nodiscard]] Backend& backend() { return *backend_; }
  [[nodiscard]] const ObjectCounts& counts() const { return counts_; }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] const sandbox::Sandbox& sandbox() const { return sandbox_; }
  [[nodiscard]] const std::string& policy_name() const { return policy_name_; }
  // Replaces the policy, and the admission rules that depend on it, while clients continue. `fifo` changes how programs
  // are compiled, so it is chosen at start only.
  Result<void> set_policy(const std::string& text);

 private:
  const ServeOptions options_;
  const std::unique_ptr<Backend> backend_;
  std::string policy_name_;
  const bool real_sms_;  // the Machine has an entry for every SM
  ObjectCounts counts_;
  MemoryLimits limits_;
  std::unique_ptr<rewrite::Rewriter> rewriter_;  // null: programs are not rewritten
  std::future<void> rewriter_start_;
  Compilers compilers_;
  sandbox::Sandbox sandbox_;
  sandbox::Comparisons comparisons_;
  std::future<NativeResults> native_results_pending_;
  NativeResults native_results_;
  std::unique_ptr<WorkerPrograms> worker_programs_;
  std::unique_ptr<Precompilation> precompilation_;
  std::unique_ptr<Verification> verification_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace wm::runtime
