// Non-preemptive priority queues: an SM that becomes free goes to the most important kernel that can use it; running
// blocks are not preempted. Tanasic et al., ISCA 2014, sections 2.4 and 4.2.
#include "policy/algorithm/demand.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Npq final : public Policy {
 public:
  void on(const KernelSetChanged&, Machine& gpu) override { hand_out(gpu); }
  void on(const SmIdle&, Machine& gpu) override { hand_out(gpu); }

 private:
  static void hand_out(Machine& gpu) {
    const auto kernels = by_priority(gpu);
    for (const Kernel& k : kernels) give_idle(gpu, k, Preempt::drain);
    if (!kernels.empty()) claim_rest(gpu, kernels.front().id, Preempt::drain);
  }
};

}  // namespace

WM_POLICY(Npq, {.name = "npq",
                .about = "free SMs go to the most important kernel, running blocks are not preempted",
                .paper = "Tanasic et al., ISCA 2014, section 4.2",
                .waits = Waits::for_priority,
                .needs = {Can::own_sms, Can::drain}})

}  // namespace wm::policy
