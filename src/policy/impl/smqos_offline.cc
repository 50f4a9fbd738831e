// A fixed number of SMs for the LS task, for the optimum that SMQoS is measured against: the fewest SMs with which the
// LS task meets its goal, found by a run with every number (Sun et al., Parallel Computing 2022, section 5.4). The
// batch tasks divide the rest. In an experiment `sms=*` stands for all numbers.
//
// The LS task is the oldest client with a goal; others count as batch tasks.
#include <algorithm>

#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class SmQosOffline final : public Policy {
 public:
  explicit SmQosOffline(const Values& v) : sms_(static_cast<std::uint32_t>(v.integer("sms"))) {}

  void on(const KernelSetChanged&, Machine& gpu) override {
    if (!members_.changed(gpu) || !members_.other_clients()) return;
    auto others = by_client(gpu);
    if (others.empty()) return;
    const auto ls = std::find_if(others.begin(), others.end(), [](const Kernel& k) { return k.has_goal(); });
    const KernelId ls_id = ls == others.end() || others.size() == 1 ? kNoKernel : ls->id;
    if (ls_id != kNoKernel) others.erase(ls);
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    // Every other task keeps one SM.
    const auto keep = static_cast<std::uint32_t>(others.size());
    const std::uint32_t max_sms = sms > keep ? sms - keep : 1;
    const std::uint32_t first = ls_id == kNoKernel ? 0 : std::min(sms_ > 0 ? sms_ : sms / (keep + 1), max_sms);
    for (std::uint32_t i = 0; i < sms; ++i)
      gpu.give({i}, i < first ? ls_id : others[part_of(i - first, sms - first, others.size())].id, Preempt::drain);
  }

 private:
  std::uint32_t sms_;
  Members members_;
};

}  // namespace

WM_POLICY(SmQosOffline,
          {.name = "smqos_offline",
           .about = "a given number of SMs for the LS task; the fewest that meet its goal are the optimum",
           .paper = "Sun et al. (SMQoS), Parallel Computing 2022, section 5.4",
           .goals = true,
           .needs = {Can::own_sms, Can::drain},
           .parameters = {integer("sms", 0, {0, 100'000}, "SMs for the LS task; 0: an equal part", "5.4")}})

}  // namespace wm::policy
