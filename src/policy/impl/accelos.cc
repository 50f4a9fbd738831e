// accelOS: software sharing. A launch is bound to an equal share of threads, local memory and registers when it starts,
// plus what is left over then, and keeps exactly that until it ends. Margiolas and O'Boyle, CGO 2016, sections 2.5
// and 3.
//
// Its persistent workers are our resident blocks: a cap is the number of workers, and each worker's next work group is
// the next block.
#include <map>

#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class AccelOs final : public Policy {
 public:
  // Requests of one instant are shared out together; until then none of them starts.
  void on(const KernelArrived& e, Machine& gpu) override {
    workers_.erase(e.kernel);
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
  }
  void on(const KernelDone& e, Machine&) override { workers_.erase(e.kernel); }
  void on(const KernelSetChanged&, Machine& gpu) override { bind(gpu); }

 private:
  void bind(Machine& gpu) {
    // Everything is counted per SM: work groups are spread evenly, and T, L and R are sums over equal SMs.
    const gpu::Resources total = gpu.limits().total;
    gpu::Resources room = total;
    double weights = 0;
    std::vector<Claim> claims;
    std::vector<KernelId> unbound;
    for (const Kernel& k : gpu.kernels()) {
      weights += k.share;
      const auto bound = workers_.find(k.id);
      if (bound != workers_.end()) {
        room = gpu::less(room, k.footprint, bound->second);
      } else {
        claims.push_back({k.footprint, k.share});
        unbound.push_back(k.id);
      }
    }
    const auto counts = accelos_shares(claims, total, room, weights);
    for (std::size_t i = 0; i < unbound.size(); ++i) {
      if (counts[i] == 0) continue;  // waits until a bound launch ends
      workers_[unbound[i]] = counts[i];
      for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, unbound[i], counts[i]);
    }
  }

  std::map<KernelId, std::uint32_t> workers_;  // per SM, of the launches that are bound
};

}  // namespace

WM_POLICY(AccelOs, {.name = "accelos",
                    .about = "equal shares of threads, local memory and registers, for the life of a launch",
                    .paper = "Margiolas and O'Boyle (accelOS), CGO 2016, section 3",
                    .waits = Waits::for_earlier,
                    .needs = {Can::cap_blocks}})

}  // namespace wm::policy
