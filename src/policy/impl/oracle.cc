// One combination of blocks per SM, for the oracle of Warped-Slicer's figure 6, which is the best of all combinations,
// each in a run of its own (Xu et al., ISCA 2016, section V.A): `blocks=5/3` is five blocks of the older client on
// every SM and three of the younger. In an experiment `blocks=*` stands for all combinations, `blocks=full` for those
// that leave no room for another block.
#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Oracle final : public Policy {
 public:
  explicit Oracle(const Values& v) : blocks_(v.counts("blocks")) {}

  void on(const KernelSetChanged&, Machine& gpu) override {
    if (!members_.changed(gpu)) return;
    const auto kernels = by_client(gpu);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const bool capped = kernels.size() > 1 && i < blocks_.size() && blocks_[i] > 0;
      for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, kernels[i].id, capped ? blocks_[i] : kNoCap);
    }
  }

 private:
  std::vector<std::uint32_t> blocks_;  // by client; those beyond its end have no cap
  Members members_;
};

}  // namespace

WM_POLICY(Oracle, {.name = "oracle",
                   .about = "a given combination of blocks per SM; the best of all of them is the oracle",
                   .paper = "Xu et al. (Warped-Slicer), ISCA 2016, section V.A",
                   .waits = Waits::for_earlier,
                   .needs = {Can::cap_blocks},
                   .parameters = {counts("blocks", "the combination, as in 5/3; none: no caps", "V.A")}})

}  // namespace wm::policy
