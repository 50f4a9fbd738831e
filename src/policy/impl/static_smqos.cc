// Static SMQoS: a kernel whose goal is 90% of its speed alone gets 90% of the SMs, once and for all; the others divide
// the rest. Sun et al., Parallel Computing 2022, section 5.2; also how their RH-SMQoS places tasks on real hardware
// (section 6.1).
#include <algorithm>
#include <cmath>

#include "policy/algorithm/members.h"
#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class StaticSmQos final : public Policy {
 public:
  void on(const KernelSetChanged&, Machine& gpu) override {
    if (members_.changed(gpu) && members_.other_clients()) divide(gpu);
  }

 private:
  static void divide(Machine& gpu) {
    const auto kernels = by_client(gpu);
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    std::vector<std::uint32_t> count(kernels.size(), 0);
    auto left = sms;
    std::vector<double> rest(kernels.size(), 0);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Kernel& k = kernels[i];
      const auto after = static_cast<std::uint32_t>(kernels.size() - i - 1);  // each of these gets one at least
      if (!k.has_goal() || k.isolated_ipc <= 0) {
        rest[i] = k.share;  // nothing is known of what it needs
        continue;
      }
      const double part = std::min(k.goal / k.isolated_ipc, 1.0);
      count[i] = std::clamp(static_cast<std::uint32_t>(std::lround(part * sms)), 1U, std::max(left, after + 1) - after);
      left -= std::min(left, count[i]);
    }
    const auto others = proportional(left, rest);
    std::uint32_t sm = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::uint32_t mine = rest[i] > 0 ? others[i] : count[i];
      for (std::uint32_t n = 0; n < mine && sm < sms; ++n, ++sm) gpu.give({sm}, kernels[i].id, Preempt::drain);
    }
    if (!kernels.empty()) {
      for (; sm < sms; ++sm) gpu.give({sm}, kernels.back().id, Preempt::drain);
    }
  }

  Members members_;
};

}  // namespace

WM_POLICY(StaticSmQos, {.name = "static_smqos",
                        .about = "a goal of x% of the speed alone gets x% of the SMs",
                        .paper = "Sun et al. (SMQoS), Parallel Computing 2022, section 5.2",
                        .goals = true,
                        .needs = {Can::own_sms, Can::drain}})

}  // namespace wm::policy
