// PoCL compiles a kernel when it first runs, anew for every size of group; nothing else starts there until it has, and
// what ends that compiler ends the process. So launches are rehearsed by the process that programs are tried in
// (trial/), with kernels that do nothing: what was compiled for them PoCL then finds on its disk. Only their client
// waits.
#pragma once

#include <functional>

#include "runtime/daemon/node.h"
#include "runtime/daemon/tried.h"
#include "runtime/daemon/worker_form.h"

namespace wm::runtime {

class Rehearsals {
 public:
  Rehearsals(const Native& native, const WorkerForms& forms, Compilers& compilers, trial::Trials& trials);

  // Whether there is anything to gain.
  [[nodiscard]] bool useful() const { return useful_; }

  // A launch to be rehearsed, as it is or as workers. Made by the reader.
  struct Part {
    std::shared_ptr<Program> program;
    std::vector<Tried> made_of;  // whole: itself, or what it was linked from
    std::string linked_with;     // the options for that
    bool workers = false;
    trial::Launch launch;
    [[nodiscard]] std::string name() const;
  };
  using Local = std::array<std::size_t, 3>;
  [[nodiscard]] static Part whole(const LaunchPlan& plan);
  [[nodiscard]] static Part as_workers(const LaunchPlan& plan, const Local& local);
  [[nodiscard]] static LaunchShape shape(const LaunchPlan& plan, const std::optional<Local>& workers);

  // Why it must not be done; nothing where it may. Waits until it has been rehearsed.
  [[nodiscard]] std::optional<std::string> refusal(const Part& part, const std::function<bool()>& unwanted) const;

 private:
  [[nodiscard]] std::optional<trial::Request> request(const Part& part) const;

  const WorkerForms& forms_;
  Compilers& compilers_;
  trial::Trials& trials_;
  const bool useful_;
};

}  // namespace wm::runtime
