// Even spatial sharing: every kernel owns an equal, disjoint set of SMs.
// Adriaens et al., "The case for GPGPU spatial multitasking", HPCA 2012; the baseline of four of our papers.
#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Spatial final : public Policy {
 public:
  void on(const KernelSetChanged&, Machine& gpu) override { divide(gpu); }

 private:
  // Neighbouring SMs go to the same kernel, so that a repartition moves as few as possible.
  static void divide(Machine& gpu) {
    const auto kernels = by_client(gpu);
    if (kernels.empty()) return;
    const std::size_t sms = gpu.sms().size();
    for (std::uint32_t i = 0; i < sms; ++i) gpu.give({i}, kernels[part_of(i, sms, kernels.size())].id, Preempt::drain);
  }
};

}  // namespace

WM_POLICY(Spatial, {.name = "spatial",
                    .about = "every kernel owns an equal, disjoint set of SMs",
                    .paper = "Adriaens et al., HPCA 2012",
                    .needs = {Can::own_sms, Can::drain}})

}  // namespace wm::policy
