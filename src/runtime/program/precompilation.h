// PoCL compiles a kernel when it first runs, anew for every size of group; nothing else starts there until it has, and
// what ends that compiler ends the process. So launches are precompiled by the process that programs are tried in
// (sandbox/), with kernels that do nothing: what was compiled for them PoCL then finds on its disk. Only their client
// waits.
#pragma once

#include <functional>

#include "runtime/program/sandbox_program.h"
#include "runtime/program/worker_program.h"
#include "runtime/schedule/command.h"

namespace wm::runtime {

class Precompilation {
 public:
  Precompilation(const Native& native, const WorkerPrograms& forms, Compilers& compilers, sandbox::Sandbox& sandbox);

  // Whether there is anything to gain.
  [[nodiscard]] bool useful() const { return useful_; }

  // A launch to be precompiled, as it is or as workers. Made by the reader.
  struct Part {
    std::shared_ptr<Program> program;
    std::vector<SandboxProgram> made_of;  // whole: itself, or what it was linked from
    std::string linked_with;              // the options for that
    bool workers = false;
    sandbox::SandboxLaunch launch;
    [[nodiscard]] std::string name() const;
  };
  using Local = std::array<std::size_t, 3>;
  [[nodiscard]] static Part whole(const LaunchPlan& plan);
  [[nodiscard]] static Part as_workers(const LaunchPlan& plan, const Local& local);
  [[nodiscard]] static LaunchShape shape(const LaunchPlan& plan, const std::optional<Local>& workers);

  // Why it must not be done; nothing where it may. Waits until it has been precompiled.
  [[nodiscard]] std::optional<std::string> refusal(const Part& part, const std::function<bool()>& unwanted) const;

 private:
  [[nodiscard]] std::optional<sandbox::Request> request(const Part& part) const;

  const WorkerPrograms& forms_;
  Compilers& compilers_;
  sandbox::Sandbox& sandbox_;
  const bool useful_;
};

}  // namespace wm::runtime
