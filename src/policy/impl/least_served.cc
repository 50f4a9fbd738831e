// Least attained service: kernels of the client that has used the machine least, by weight, go first.
//
// The order decides whose blocks start where room becomes free, so no block is interrupted and no room stays empty.
// Short work passes long work, and clients that stay share the machine equally. The use of the machine is counted in
// blocks times cycles, relative to the blocks that fill it, and begins anew when no kernel is there.
//
// It needs the order of launches only, so it runs on every machine: on a CUDA device the order is the priority of the
// streams in which kernels are launched.
#include <algorithm>
#include <map>
#include <vector>

#include "policy/policy.h"

namespace wm::policy {
namespace {

class LeastServed final : public Policy {
 public:
  explicit LeastServed(const Values& v) : slice_(v.cycles("slice")) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    charge(gpu);
    const Kernel* kernel = gpu.find(e.kernel);
    if (kernel == nullptr) return;
    Member& member = members_[e.kernel];
    // A new or returning client gets no credit for its absence. A client whose launches follow each other was not
    // absent.
    if (kernel->launch == 0) member.served = 0;
    if (kernel->launch == 0 || gpu.now() > member.left + slice_) {
      member.served = std::max(least_served(), member.served);
    }
    member.share = std::max(kernel->share, 1e-9);
    member.places = static_cast<double>(std::max(kernel->max_blocks_per_sm, 1U)) * gpu.sms().size();
    member.seen = 0;
    member.is_here = true;
  }
  void on(const KernelDone& e, Machine& gpu) override {
    charge(gpu);
    members_[e.kernel].is_here = false;
    members_[e.kernel].left = gpu.now();
  }
  void on(const KernelSetChanged&, Machine& gpu) override { order(gpu); }
  void on(const Wake&, Machine& gpu) override {
    is_due_ = false;
    order(gpu);
  }

 private:
  struct Member {
    double served = 0;  // cycles of the whole machine, over its weight
    double share = 1;
    double places = 1;       // its blocks that fill the machine
    std::uint32_t seen = 0;  // its blocks at the last update
    bool is_here = false;
    Cycles left;
  };

  [[nodiscard]] double least_served() const {
    double least = -1;
    for (const auto& [id, m] : members_) {
      if (m.is_here) least = least < 0 ? m.served : std::min(least, m.served);
    }
    return std::max(least, 0.0);
  }

  // A kernel that has ended, and one that has started blocks since, had at least as many as were seen before.
  void charge(const Machine& gpu) {
    const auto passed = static_cast<double>((gpu.now() - charged_).count);
    charged_ = gpu.now();
    for (auto& [id, m] : members_) {
      if (!m.is_here) continue;
      const Kernel* k = gpu.find(id);
      const std::uint32_t resident = k == nullptr ? 0 : k->resident;
      m.served += passed * std::max(resident, m.seen) / (m.places * m.share);
      m.seen = resident;
    }
  }

  void order(Machine& gpu) {
    charge(gpu);
    std::vector<Kernel> kernels(gpu.kernels().begin(), gpu.kernels().end());
    if (kernels.empty()) {
      for (auto& [id, m] : members_) m.served = 0;
    }
    // Among kernels with equal use the last arrival goes first: the others have had the machine before.
    std::stable_sort(kernels.begin(), kernels.end(), [&](const Kernel& a, const Kernel& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      const double x = members_[a.id].served, y = members_[b.id].served;
      return x != y ? x < y : a.arrived > b.arrived;
    });
    std::vector<KernelId> first;
    for (const Kernel& k : kernels) first.push_back(k.id);
    gpu.order(first);
    if (kernels.size() > 1 && !is_due_) {
      is_due_ = true;
      gpu.wake_at(gpu.now() + slice_, 0);
    }
  }

  const Cycles slice_;
  Cycles charged_;
  bool is_due_ = false;
  std::map<KernelId, Member> members_;
};

}  // namespace

WM_POLICY(LeastServed, {.name = "least_served",
                        .about = "kernels of the client that has used the machine least go first, none is interrupted",
                        .paper = "least attained service (foreground-background) scheduling",
                        .waits = Waits::for_priority,
                        .short_launches_unmodified = true,
                        .needs = {Can::order_launches},
                        .parameters = {cycles("slice", 100'000, {1000, 1'000'000'000},
                                              "time between two orders of kernels that run on", "")}})

}  // namespace wm::policy
