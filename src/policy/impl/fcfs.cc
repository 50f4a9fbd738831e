// First come, first served: the whole GPU belongs to one client's kernel until it is done. The baseline of "Enabling
// Preemptive Multiprogramming on GPUs" (ISCA 2014), section 2.3: kernels of different contexts never run together.
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Fcfs final : public Policy {
 public:
  void on(const KernelSetChanged&, Machine& gpu) override { serve_oldest(gpu); }

 private:
  // The oldest arrival keeps the GPU until its last block ended, so there is never a block in the next one's way.
  static void serve_oldest(Machine& gpu) {
    if (gpu.kernels().empty()) return;
    for (const Sm& sm : gpu.sms()) gpu.give(sm.id, gpu.kernels().front().id, Preempt::drain);
  }
};

}  // namespace

WM_POLICY(Fcfs, {.name = "fcfs",
                 .about = "one kernel after the other, each with the whole GPU",
                 .paper = "Tanasic et al., ISCA 2014, section 2.3",
                 .waits = Waits::for_earlier,
                 .needs = {Can::own_sms, Can::drain}})

}  // namespace wm::policy
