// A launch of the program as workers, in the program's own stream.
#pragma once

#include <optional>
#include <vector>

#include "runtime/client/forward/kernel_call.h"
#include "runtime/client/forward/rewritten_kernels.h"
#include "runtime/client/forward/worker_words.h"

namespace wm::forward {

class WorkerLaunch {
 public:
  // `kernel` is that of `choice`, which has workers; the program may use so many SMs. Empty: the launch must be made as
  // the program asked.
  static std::optional<WorkerLaunch> plan(const KernelCall& asked, const RewrittenKernels::Choice& choice,
                                          std::size_t own_sms);

  // The launch to make. It refers to this object.
  [[nodiscard]] KernelCall call();
  // The driver has taken it, or has refused it.
  // How many launches of more workers were made.
  unsigned launched() { return WorkerWords::get().launched(words_, std::move(kernel_)); }
  void refused() { WorkerWords::get().give_back(words_); }

 private:
  WorkerLaunch(WorkerKernel kernel, const WorkerWords::Launch& words);

  WorkerKernel kernel_;
  WorkerWords::Launch words_;
  std::vector<void*> parameters_;
};

}  // namespace wm::forward
