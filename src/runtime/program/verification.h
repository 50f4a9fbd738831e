// Compares the worker form of a kernel with the unmodified kernel before its first launch as workers, in a comparison
// (sandbox/comparison.h): a compiler may translate only one of the two correctly.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/program/launch_plan.h"
#include "runtime/program/worker_program.h"
#include "runtime/sandbox/comparisons.h"

namespace wm::runtime {

class Verification {
 public:
  Verification(const Capabilities& device, const WorkerPrograms& worker_programs, Compilers& compilers,
               sandbox::Comparisons& comparisons)
      : worker_programs_(worker_programs),
        compilers_(compilers),
        comparisons_(comparisons),
        useful_(comparisons.possible() && device.compiles_at_launch) {}

  // The comparison of a launch: its values, group size and buffer sizes, and a few of its groups. Nothing where it
  // cannot be repeated elsewhere: it uses images, or more memory than a comparison may.
  [[nodiscard]] static std::optional<sandbox::Comparison> comparison_of(const LaunchPlan& plan, const Size3& local,
                                                                        const rewrite::KernelReply& kernel);

  // Waits for the comparison, after `compile_unmodified`, which puts the code of the unmodified kernel on disk: the
  // time of a comparison is limited, and some kernels take longer to compile. False: that failed. The reason why the
  // kernel must run unmodified; nothing where it may run as workers. A kernel that cannot be tried, or fails unmodified
  // on the inputs of the comparison, may.
  [[nodiscard]] std::optional<std::string> refusal(const LaunchPlan& plan, const Size3& local,
                                                   const CompilingClient& client,
                                                   const std::function<bool()>& compile_unmodified) const;

 private:
  const WorkerPrograms& worker_programs_;
  Compilers& compilers_;
  sandbox::Comparisons& comparisons_;
  const bool useful_;
};

}  // namespace wm::runtime
