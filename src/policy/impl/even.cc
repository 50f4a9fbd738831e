// Even intra-SM slicing: on every SM each kernel may use its own 1/K of registers, shared memory, threads and block
// slots. Warped-Slicer (ISCA 2016) section III, figure 2c; the "Even" column of its table III.
#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Even final : public Policy {
 public:
  void on(const KernelSetChanged&, Machine& gpu) override { divide(gpu); }

 private:
  static void divide(Machine& gpu) {
    const auto kernels = gpu.kernels();
    if (kernels.empty()) return;
    std::vector<Claim> claims;
    for (const Kernel& k : kernels) claims.push_back({k.footprint});
    const auto blocks = even_split(claims, gpu.limits().total);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, kernels[i].id, blocks[i]);
    }
  }
};

}  // namespace

WM_POLICY(Even, {.name = "even",
                 .about = "every SM divided into equal parts, one a kernel",
                 .paper = "Xu et al. (Warped-Slicer), ISCA 2016, section III",
                 .needs = {Can::cap_blocks}})

}  // namespace wm::policy
