// First come, first served: the whole GPU belongs to one process. The baseline of "Enabling Preemptive Multiprogramming
// on GPUs" (ISCA 2014), section 2.3: kernels of different processes never run together. Kernels of one process that
// follow each other run back to back: SMs that the first has no more blocks for go to the next.
#include "policy/algorithm/demand.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Fcfs final : public Policy {
 public:
  void on(const KernelSetChanged&, Machine& gpu) override { serve_oldest(gpu); }
  void on(const SmIdle&, Machine& gpu) override { run_back_to_back(gpu); }

 private:
  // A process keeps the GPU until its last block ended, so there is never a block in the next one's way.
  static void serve_oldest(Machine& gpu) {
    if (gpu.kernels().empty()) return;
    const Kernel& oldest = gpu.kernels().front();
    for (const Sm& sm : gpu.sms()) {
      const Kernel* owner = gpu.find(eventual_owner(sm));
      const bool in_use = owner != nullptr && owner->process == oldest.process && sm.resident > 0;
      gpu.give(sm.id, in_use ? owner->id : oldest.id, Preempt::drain);
    }
    run_back_to_back(gpu);
  }

  // Gives idle SMs to kernels of the oldest kernel's process that were launched before any kernel of another process.
  static void run_back_to_back(Machine& gpu) {
    for (const Kernel& k : gpu.kernels()) {
      if (k.process != gpu.kernels().front().process) return;
      give_idle(gpu, k, Preempt::drain);
    }
  }
};

}  // namespace

WM_POLICY(Fcfs, {.name = "fcfs",
                 .about = "one process after the other, each with the whole GPU",
                 .paper = "Tanasic et al., ISCA 2014, section 2.3",
                 .waits = Waits::for_earlier,
                 .needs = {Can::own_sms, Can::drain}})

}  // namespace wm::policy
