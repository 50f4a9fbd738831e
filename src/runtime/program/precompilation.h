// Compiles kernels before they are launched, for devices that compile at launch. PoCL compiles a kernel at its first
// launch with each group size; no other command starts until it has, and a crash of its compiler ends the process. So
// the compile sandbox (sandbox/) launches the kernel first, with empty kernel functions, and PoCL finds the compiled
// kernel in its cache on disk. Only the client of the launch waits.
#pragma once

#include <functional>

#include "runtime/program/launch_plan.h"
#include "runtime/program/sandbox_program.h"
#include "runtime/program/worker_program.h"

namespace wm::runtime {

class Precompilation {
 public:
  Precompilation(const Capabilities& device, const WorkerPrograms& worker_programs, Compilers& compilers,
                 sandbox::Sandbox& sandbox);

  // Whether the device compiles at launch and there is a sandbox.
  [[nodiscard]] bool useful() const { return useful_; }

  // A launch to be precompiled, unmodified or as workers. Made by the reader thread.
  struct Task {
    std::shared_ptr<Program> program;
    std::vector<SandboxProgram> built_from;  // unmodified: the program itself, or its inputs where it was linked
    std::string link_options;
    bool workers = false;
    sandbox::SandboxLaunch launch;
    [[nodiscard]] std::string name() const;
  };
  [[nodiscard]] static Task unmodified(const LaunchPlan& plan);
  [[nodiscard]] static Task as_workers(const LaunchPlan& plan, const Size3& local);
  // The unmodified kernel as a comparison with its workers launches it: few groups of their size.
  [[nodiscard]] static Task compared(const LaunchPlan& plan, const Size3& local);
  [[nodiscard]] static LaunchShape shape(const LaunchPlan& plan, const std::optional<Size3>& workers);

  // Waits until the launch has been precompiled. The reason why it must not run; nothing where it may.
  [[nodiscard]] std::optional<std::string> refusal(const Task& launch, const CompilingClient& client) const;

 private:
  [[nodiscard]] std::optional<sandbox::Request> request(const Task& launch) const;

  const WorkerPrograms& worker_programs_;
  Compilers& compilers_;
  sandbox::Sandbox& sandbox_;
  const bool useful_;
};

}  // namespace wm::runtime
