// Strict priorities over accelOS's shares: kernels of the highest priority divide the machine among themselves, and
// each lower priority gets what those above it cannot use. A kernel of a lower priority gives its blocks up at their
// end.
//
// It needs block caps only, so it runs on every machine: on a device a launch with `wm run --priority` takes the
// compute units of others as their work groups end.
#include <algorithm>
#include <vector>

#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class PriorityShares final : public Policy {
 public:
  void on(const KernelArrived& e, Machine& gpu) override {
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
  }
  void on(const KernelSetChanged&, Machine& gpu) override { divide(gpu); }

 private:
  static void divide(Machine& gpu) {
    std::vector<Kernel> kernels(gpu.kernels().begin(), gpu.kernels().end());
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const Kernel& a, const Kernel& b) { return a.priority > b.priority; });
    gpu::Resources room = gpu.limits().total;
    for (auto begin = kernels.begin(); begin != kernels.end();) {
      const auto end =
          std::find_if(begin, kernels.end(), [&](const Kernel& k) { return k.priority != begin->priority; });
      room = divide_class(gpu, {begin, end}, room);
      begin = end;
    }
  }

  // Divides the room of an SM among kernels of one priority; returns what they leave.
  static gpu::Resources divide_class(Machine& gpu, std::span<const Kernel> kernels, gpu::Resources room) {
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    std::vector<Claim> claims;
    double weights = 0;
    for (const Kernel& k : kernels) {
      claims.push_back({k.footprint, k.share, std::max((k.resident + k.waiting + sms - 1) / sms, 1U)});
      weights += k.share;
    }
    const auto counts = accelos_shares(claims, room, room, weights);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, kernels[i].id, counts[i]);
      room = gpu::less(room, kernels[i].footprint, counts[i]);
    }
    return room;
  }
};

}  // namespace

WM_POLICY(PriorityShares, {.name = "priority_shares",
                           .about = "strict priorities; kernels of one priority divide what those above leave",
                           .paper = "shares after Margiolas and O'Boyle (accelOS), CGO 2016",
                           .waits = Waits::for_priority,
                           .needs = {Can::cap_blocks}})

}  // namespace wm::policy
