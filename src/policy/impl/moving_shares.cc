// accelOS's shares, but not for the life of a launch: when the company changes every kernel gets its new share, and
// those that no share is left for take turns. Past the paper (CGO 2016, section 2.5), which binds a launch to what it
// got first.
//
// A turn goes to the kernels that had least of the machine so far, by weight: workers times time.
#include <algorithm>
#include <map>
#include <vector>

#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class MovingShares final : public Policy {
 public:
  explicit MovingShares(const Values& v) : slice_(v.cycles("slice")) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    charge(gpu);
    // A newcomer has no claim on the past.
    double least = -1;
    for (const auto& [id, m] : members_) least = least < 0 ? m.served : std::min(least, m.served);
    members_[e.kernel] = {std::max(least, 0.0)};
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
  }
  void on(const KernelDone& e, Machine& gpu) override {
    charge(gpu);
    members_.erase(e.kernel);
  }
  void on(const Regrouped&, Machine& gpu) override { divide(gpu); }
  void on(const Wake&, Machine& gpu) override {
    asleep_ = false;
    divide(gpu);
  }

 private:
  struct Member {
    double served = 0;  // blocks times cycles, over its weight
  };

  void charge(const Machine& gpu) {
    const auto passed = static_cast<double>((gpu.now() - charged_).count);
    charged_ = gpu.now();
    for (const Kernel& k : gpu.kernels()) {
      const auto it = members_.find(k.id);
      // What is there, not what may be: a block that has to leave stays until its end.
      if (it != members_.end()) it->second.served += passed * k.resident / std::max(k.share, 1e-9);
    }
  }

  void divide(Machine& gpu) {
    charge(gpu);
    std::vector<Kernel> turn(gpu.kernels().begin(), gpu.kernels().end());
    std::stable_sort(turn.begin(), turn.end(), [this](const Kernel& a, const Kernel& b) {
      return members_[a.id].served < members_[b.id].served;
    });
    std::vector<Claim> claims;
    double weights = 0;
    for (const Kernel& k : turn) {
      claims.push_back({k.footprint, k.share});
      weights += k.share;
    }
    const gpu::Resources total = gpu.limits().total;
    const auto counts = accelos_shares(claims, total, total, weights);
    bool left_out = false;
    for (std::size_t i = 0; i < turn.size(); ++i) {
      left_out |= counts[i] == 0;
      for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, turn[i].id, counts[i]);
    }
    if (left_out && !asleep_) {
      asleep_ = true;
      gpu.wake_at(gpu.now() + slice_, 0);
    }
  }

  Cycles slice_;
  Cycles charged_;
  bool asleep_ = false;
  std::map<KernelId, Member> members_;
};

}  // namespace

WM_POLICY(
    MovingShares,
    {.name = "moving_shares",
     .about = "accelOS's equal shares, divided anew whenever a kernel comes or goes; who finds no room takes turns",
     .paper = "after Margiolas and O'Boyle (accelOS), CGO 2016",
     .needs = {Can::cap_blocks},
     .parameters = {cycles("slice", 5'000'000, {1000, 1'000'000'000}, "length of a turn", "")}})

}  // namespace wm::policy
