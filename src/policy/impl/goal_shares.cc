// Goals by block caps: a kernel with a goal gets the part of the machine that its goal is of its isolated rate, times a
// factor that follows what its launches reached; the others divide the rest by accelOS's shares.
//
// It needs block caps only, so it runs on every machine; on a device the goal of a launch is a time (`wm run --goal`).
// A rate is compared with the goal when the next launch of the kernel arrives, because a device counts completed work.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class GoalShares final : public Policy {
 public:
  explicit GoalShares(const Values& v) : margin_(v.number("margin")), step_(v.number("step")) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
    const Kernel* k = gpu.find(e.kernel);
    if (k == nullptr) return;
    Member& m = members_[e.kernel];
    if (k->launch == 0) m = {};
    if (k->has_goal() && m.ended > m.arrived) adapt(m, *k);
    m.arrived = k->arrived;
    m.instructions = k->instructions;
  }
  void on(const KernelDone& e, Machine& gpu) override { members_[e.kernel].ended = gpu.now(); }
  void on(const KernelSetChanged&, Machine& gpu) override { divide(gpu); }

 private:
  struct Member {
    Cycles arrived, ended;           // times of the latest launch
    std::uint64_t instructions = 0;  // instructions of all launches before it
    double factor = 1;
  };

  // More after a launch below the goal; slowly less while the goal is exceeded by the margin.
  void adapt(Member& m, const Kernel& k) const {
    const double rate =
        static_cast<double>(k.instructions - m.instructions) / static_cast<double>((m.ended - m.arrived).count);
    if (rate < k.goal * (1 + margin_)) m.factor *= 1 + step_;
    if (rate > k.goal * (1 + 2 * margin_)) m.factor *= 1 - step_ / 8;
    m.factor = std::clamp(m.factor, 0.1, 10.0);
  }

  // Blocks per SM that the kernel's goal takes; all of them while its isolated rate is not known.
  [[nodiscard]] std::uint32_t blocks_for_goal(const Kernel& k) {
    const std::uint32_t all = std::max(k.max_blocks_per_sm, 1U);
    if (k.isolated_ipc <= 0) return all;
    const double part = k.goal * (1 + margin_) / k.isolated_ipc * members_[k.id].factor;
    return std::clamp(static_cast<std::uint32_t>(std::ceil(part * all)), 1U, all);
  }

  void divide(Machine& gpu) {
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    gpu::Resources room = gpu.limits().total;
    std::vector<Claim> claims;
    std::vector<KernelId> others;
    double weights = 0;
    for (const Kernel& k : gpu.kernels()) {
      const std::uint32_t usable = std::max((k.resident + k.waiting + sms - 1) / sms, 1U);
      if (!k.has_goal()) {
        claims.push_back({k.footprint, k.share, usable});
        others.push_back(k.id);
        weights += k.share;
        continue;
      }
      const std::uint32_t blocks = std::min({blocks_for_goal(k), usable, gpu::fit(k.footprint, room)});
      set_cap(gpu, k.id, blocks);
      room = gpu::less(room, k.footprint, blocks);
    }
    const auto counts = accelos_shares(claims, room, room, weights);
    for (std::size_t i = 0; i < others.size(); ++i) set_cap(gpu, others[i], counts[i]);
  }

  static void set_cap(Machine& gpu, KernelId id, std::uint32_t blocks) {
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, id, blocks);
  }

  double margin_, step_;
  std::map<KernelId, Member> members_;
};

}  // namespace

WM_POLICY(GoalShares,
          {.name = "goal_shares",
           .about = "kernels with goals get the part of the machine that these take; the others divide the rest",
           .paper = "shares after Margiolas and O'Boyle (accelOS), CGO 2016",
           .waits = Waits::for_priority,
           .goals = true,
           .needs = {Can::cap_blocks},
           .parameters = {number("margin", 0.1, {0, 2}, "how much above the goal it aims", ""),
                          number("step", 0.25, {0.01, 1}, "how fast a kernel's part follows what it reached", "")}})

}  // namespace wm::policy
