// Goals by block caps: a kernel with a goal gets the part of the machine with which nearly all of its latest launches
// would have met it; the others divide the rest by accelOS's shares.
//
// If a launch with the part p of the machine reached the rate r, its goal takes the part p * goal / r. The kernel gets
// the part that suffices for `percentile` of its latest launches, so that a goal of the 99th percentile is held. Before
// the first launch has ended, the part is the goal over the isolated rate.
//
// It needs block caps only, so it runs on every machine; on a device the goal of a launch is a time (`wm run --goal`).
// A rate is compared with the goal when the next launch of the kernel arrives, because a device counts completed work.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <vector>

#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class GoalShares final : public Policy {
 public:
  explicit GoalShares(const Values& v)
      : margin_(v.number("margin")),
        percentile_(v.number("percentile")),
        launches_(static_cast<std::size_t>(v.integer("launches"))) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
    const Kernel* k = gpu.find(e.kernel);
    if (k == nullptr) return;
    Member& m = members_[e.kernel];
    if (k->launch == 0) m = {};
    if (k->has_goal() && m.ended > m.arrived) learn(m, *k);
    m.arrived = k->arrived;
    m.instructions = k->instructions;
  }
  void on(const KernelDone& e, Machine& gpu) override { members_[e.kernel].ended = gpu.now(); }
  void on(const KernelSetChanged&, Machine& gpu) override { divide(gpu); }

 private:
  struct Member {
    Cycles arrived, ended;           // times of the latest launch
    std::uint64_t instructions = 0;  // instructions of all launches before it
    double part = 1;                 // the part of the machine that it has, from 0 to 1
    std::deque<double> needed;       // the parts that the latest launches needed
  };

  void learn(Member& m, const Kernel& k) const {
    const double rate =
        static_cast<double>(k.instructions - m.instructions) / static_cast<double>((m.ended - m.arrived).count);
    m.needed.push_back(rate > 0 ? m.part * k.goal * (1 + margin_) / rate : 1);
    if (m.needed.size() > launches_) m.needed.pop_front();
  }

  // The part that suffices for `percentile` of the latest launches.
  [[nodiscard]] double learnt_part(const Member& m) const {
    std::vector<double> sorted(m.needed.begin(), m.needed.end());
    const auto rank = static_cast<std::ptrdiff_t>(std::ceil(percentile_ * static_cast<double>(sorted.size()))) - 1;
    const auto at = sorted.begin() + std::max<std::ptrdiff_t>(rank, 0);
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }

  // Blocks per SM that the kernel's goal takes; all of them while its isolated rate is not known.
  [[nodiscard]] std::uint32_t blocks_for_goal(const Kernel& k) {
    const std::uint32_t all = std::max(k.max_blocks_per_sm, 1U);
    if (k.isolated_ipc <= 0) return all;
    const Member& m = members_[k.id];
    const double part = m.needed.empty() ? k.goal * (1 + margin_) / k.isolated_ipc : learnt_part(m);
    return static_cast<std::uint32_t>(std::clamp(std::ceil(part * all), 1.0, static_cast<double>(all)));
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
      members_[k.id].part = static_cast<double>(blocks) / std::max(k.max_blocks_per_sm, 1U);
      room = gpu::less(room, k.footprint, blocks);
    }
    const auto counts = accelos_shares(claims, room, room, weights);
    for (std::size_t i = 0; i < others.size(); ++i) set_cap(gpu, others[i], counts[i]);
  }

  static void set_cap(Machine& gpu, KernelId id, std::uint32_t blocks) {
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, id, blocks);
  }

  double margin_, percentile_;
  std::size_t launches_;
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
                          number("percentile", 0.99, {0.5, 1}, "the part of the latest launches that meet it", ""),
                          integer("launches", 128, {1, 10'000}, "how many launches are the latest", "")}})

}  // namespace wm::policy
