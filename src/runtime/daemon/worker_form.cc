#include "runtime/daemon/worker_form.h"

#include <algorithm>

namespace wm::runtime {

void WorkerForms::add(Program& program) const {
  program.workers.reset();
  program.forms.clear();
  if (rewriter_ == nullptr) {
    program.whole_because = "rewriting is off";
    return;
  }
  const auto reply = rewriter_->rewrite({.source = program.source, .options = program.options});
  if (!reply) {
    program.whole_because = reply.error().what;
    return;
  }
  program.whole_because = reply->refusal;
  program.forms = reply->kernels;
  if (reply->source.empty()) return;
  const char* text = reply->source.c_str();
  const std::size_t length = reply->source.size();
  const cl_program made = native_.cl.CreateProgramWithSource(native_.context, 1, &text, &length, nullptr);
  if (made == nullptr) return;
  auto workers = own(made, native_.cl.ReleaseProgram, census_.programs);
  if (native_.cl.BuildProgram(made, 1, &native_.device, reply->options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    program.whole_because = "the device does not build the rewritten program";
    return;
  }
  program.workers = std::move(workers);
}

void WorkerForms::add(Kernel& kernel) const {
  const Program& program = *kernel.program;
  const auto form = std::find_if(program.forms.begin(), program.forms.end(),
                                 [&](const rewrite::KernelReply& k) { return k.name == kernel.name; });
  kernel.whole_because = program.whole_because;
  if (form == program.forms.end()) return;
  if (!form->reason.empty()) kernel.whole_because = form->reason;
  if (!program.workers || !form->rewritten) return;
  const cl_kernel made = native_.cl.CreateKernel(program.workers.get(), kernel.name.c_str(), nullptr);
  if (made == nullptr) return;
  kernel.workers = own(made, native_.cl.ReleaseKernel, census_.kernels);
  kernel.chunk = form->chunk;
  kernel.extra_local_bytes = static_cast<std::uint32_t>(form->extra_local_bytes);
  std::size_t most = 0;
  native_.cl.GetKernelWorkGroupInfo(made, native_.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
  kernel.workers_most_items = most;
  kernel.whole_because.clear();
}

}  // namespace wm::runtime
