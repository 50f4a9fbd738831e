// Static SMQoS: a kernel whose goal is 90% of its isolated rate gets 90% of the SMs, permanently; the others divide
// the rest. Sun et al., Parallel Computing 2022, section 5.2; also how their RH-SMQoS places tasks on real hardware
// (section 6.1).
//
// The paper does not define the rounding: 95% of 24 SMs are 22.8. The fraction is dropped by default, since the
// 58.3% of goals that the paper reports suggest fewer SMs than the goal asks for.
#include <algorithm>
#include <cmath>

#include "policy/algorithm/members.h"
#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class StaticSmQos final : public Policy {
 public:
  explicit StaticSmQos(const Values& v) : rounding_(v.choice<Rounding>("rounding")) {}

  void on(const KernelSetChanged&, Machine& gpu) override {
    if (members_.changed(gpu) && members_.other_clients()) divide(gpu);
  }

 private:
  enum class Rounding { down, nearest, up };

  [[nodiscard]] std::uint32_t whole_sms(double sms) const {
    constexpr double kExact = 1e-9;  // a product that should be an integer may be slightly smaller
    if (rounding_ == Rounding::nearest) return static_cast<std::uint32_t>(std::lround(sms));
    return static_cast<std::uint32_t>(rounding_ == Rounding::down ? std::floor(sms + kExact) : std::ceil(sms - kExact));
  }

  void divide(Machine& gpu) const {
    const auto kernels = by_client(gpu);
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    std::vector<std::uint32_t> count(kernels.size(), 0);
    auto left = sms;
    std::vector<double> rest(kernels.size(), 0);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Kernel& k = kernels[i];
      const auto after = static_cast<std::uint32_t>(kernels.size() - i - 1);  // each of these gets at least one
      if (!k.has_goal() || k.isolated_ipc <= 0) {
        rest[i] = k.share;  // its demand is not known
        continue;
      }
      const double part = std::min(k.goal / k.isolated_ipc, 1.0);
      count[i] = std::clamp(whole_sms(part * sms), 1U, std::max(left, after + 1) - after);
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

  Rounding rounding_;
  Members members_;
};

}  // namespace

WM_POLICY(StaticSmQos, {.name = "static_smqos",
                        .about = "a goal of x% of the isolated rate gets x% of the SMs",
                        .paper = "Sun et al. (SMQoS), Parallel Computing 2022, section 5.2",
                        .goals = true,
                        .needs = {Can::own_sms, Can::drain},
                        .parameters = {added_later(choice("rounding", {{"down"}, {"nearest"}, {"up"}},
                                                          "what becomes of a part of an SM", "5.2"))}})

}  // namespace wm::policy
