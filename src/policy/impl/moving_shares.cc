// accelOS's shares, but not for the life of a launch: when the set of kernels changes every kernel gets its new share,
// and kernels for which no share is left take turns. The paper (CGO 2016, section 2.5) binds a launch to its first
// share instead.
//
// A turn goes to the clients that have used the machine least, by weight: workers times time, over all of a client's
// launches.
#include <algorithm>
#include <map>
#include <vector>

#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class MovingShares final : public Policy {
 public:
  explicit MovingShares(const Values& v)
      : slice_(v.cycles("slice")), at_once_(static_cast<std::size_t>(v.integer("at_once"))) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    charge(gpu);
    Member& member = members_[e.kernel];
    const Kernel* kernel = gpu.find(e.kernel);
    const bool new_client = kernel == nullptr || kernel->launch == 0;
    // A new or returning client starts with at least the smallest use of the others, so that it gets no credit for its
    // absence. A client whose launches follow each other was not absent.
    if (new_client || gpu.now() > member.left + slice_) {
      member.served = std::max(least_served(), new_client ? 0.0 : member.served);
    }
    member.here = true;
    member.cap = member.seen = 0;
    member.share = kernel != nullptr ? std::max(kernel->share, 1e-9) : 1;
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
  }
  void on(const KernelDone& e, Machine& gpu) override {
    charge(gpu, e.kernel);
    members_[e.kernel].here = false;
    members_[e.kernel].left = gpu.now();
  }
  void on(const KernelSetChanged&, Machine& gpu) override { divide(gpu); }
  void on(const Wake&, Machine& gpu) override {
    asleep_ = false;
    divide(gpu);
  }

 private:
  struct Member {
    double served = 0;  // blocks times cycles, over its weight
    double share = 1;
    std::uint32_t cap = 0;   // blocks per SM
    std::uint32_t seen = 0;  // its blocks at the last update
    bool here = false;
    Cycles left;
    Cycles turn_began;
  };

  [[nodiscard]] double least_served() const {
    double least = -1;
    for (const auto& [id, m] : members_) {
      if (m.here) least = least < 0 ? m.served : std::min(least, m.served);
    }
    return std::max(least, 0.0);
  }

  // Counts resident blocks and not allowed ones: a block that has to leave runs until its end. After the end of a
  // launch only the number of allowed blocks is known.
  void charge(const Machine& gpu, KernelId ended = kNoKernel) {
    const auto passed = static_cast<double>((gpu.now() - charged_).count);
    charged_ = gpu.now();
    for (auto& [id, m] : members_) {
      if (!m.here) continue;
      const Kernel* k = gpu.find(id);
      const auto all = static_cast<double>(m.cap) * static_cast<double>(gpu.sms().size());
      const double there = id == ended || k == nullptr ? all : k->resident;
      m.served += passed * std::max<double>(there, m.seen) / m.share;
      m.seen = k == nullptr ? 0 : k->resident;
    }
  }

  void divide(Machine& gpu) {
    charge(gpu);
    std::vector<Kernel> turn(gpu.kernels().begin(), gpu.kernels().end());
    const bool turns = at_once_ != 0 && turn.size() > at_once_;
    // Among kernels with equal use the last arrival goes first: the others have just had a turn.
    std::stable_sort(turn.begin(), turn.end(), [&](const Kernel& a, const Kernel& b) {
      const bool stays = turns && in_turn(a.id, gpu.now());
      if (stays != (turns && in_turn(b.id, gpu.now()))) return stays;
      const double x = members_[a.id].served, y = members_[b.id].served;
      return x != y ? x < y : a.arrived > b.arrived;
    });
    if (turns) {
      for (std::size_t i = at_once_; i < turn.size(); ++i) set_cap(gpu, turn[i].id, 0);
      turn.resize(at_once_);
    }
    std::vector<Claim> claims;
    double weights = 0;
    for (const Kernel& k : turn) {
      const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
      claims.push_back({k.footprint, k.share, std::max((k.resident + k.waiting + sms - 1) / sms, 1U)});
      weights += k.share;
    }
    const gpu::Resources total = gpu.limits().total;
    const auto counts = accelos_shares(claims, total, total, weights);
    bool left_out = turns;
    for (std::size_t i = 0; i < turn.size(); ++i) {
      left_out |= counts[i] == 0;
      set_cap(gpu, turn[i].id, counts[i]);
    }
    if (left_out && !asleep_) {
      asleep_ = true;
      gpu.wake_at(gpu.now() + slice_, 0);
    }
  }

  [[nodiscard]] bool in_turn(KernelId id, Cycles now) {
    const Member& m = members_[id];
    return m.cap != 0 && now < m.turn_began + slice_;
  }

  void set_cap(Machine& gpu, KernelId id, std::uint32_t blocks) {
    Member& m = members_[id];
    if (m.cap == 0) m.turn_began = gpu.now();
    m.cap = blocks;
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, id, blocks);
  }

  Cycles slice_;
  std::size_t at_once_;
  Cycles charged_;
  bool asleep_ = false;
  std::map<KernelId, Member> members_;
};

}  // namespace

WM_POLICY(
    MovingShares,
    {.name = "moving_shares",
     .about = "accelOS's equal shares, divided anew whenever a kernel comes or goes; kernels without room take turns",
     .paper = "after Margiolas and O'Boyle (accelOS), CGO 2016",
     .short_launches_unmodified = true,
     .needs = {Can::cap_blocks},
     .parameters = {
         cycles("slice", 2'000'000, {1000, 1'000'000'000}, "length of a turn", ""),
         integer("at_once", 0, {0, 1000}, "kernels that share the machine while others wait for a turn; 0: all", "")}})

}  // namespace wm::policy
