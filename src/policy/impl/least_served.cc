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

#include "policy/algorithm/machine_use.h"
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
    use_.begin(*kernel, gpu);
  }
  void on(const KernelDone& e, Machine& gpu) override {
    charge(gpu);
    use_.end(e.kernel);
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
    Cycles left;
  };

  [[nodiscard]] double least_served() const {
    double least = -1;
    for (const auto& [id, m] : members_) {
      if (use_.is_here(id)) least = least < 0 ? m.served : std::min(least, m.served);
    }
    return std::max(least, 0.0);
  }

  void charge(const Machine& gpu) {
    use_.charge(gpu, [&](KernelId id, double cycles) { members_[id].served += cycles / members_[id].share; });
  }

  void order(Machine& gpu) {
    charge(gpu);
    if (gpu.kernels().empty()) {
      for (auto& [id, m] : members_) m.served = 0;
    }
    const auto kernels = order_launches(gpu, [&](KernelId id) { return members_[id].served; });
    if (kernels.size() > 1 && !is_due_) {
      is_due_ = true;
      gpu.wake_at(gpu.now() + slice_, 0);
    }
  }

  const Cycles slice_;
  bool is_due_ = false;
  MachineUse use_;
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
