// accelOS: software sharing. A launch is bound to an equal share of threads, local memory and registers when it starts,
// plus a part of the resources that are free at that time, and keeps exactly that until it ends. Margiolas and O'Boyle,
// CGO 2016, sections 2.5 and 3.
//
// Its persistent workers are our resident blocks: a cap is the number of workers, and each worker's next work group is
// the next block.
#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class AccelOs final : public Policy {
 public:
  // Launches that arrive in one instant are divided together; none of them starts before that.
  void on(const KernelArrived& e, Machine& gpu) override {
    workers_.erase(e.kernel);
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
  }
  void on(const KernelDone& e, Machine&) override { workers_.erase(e.kernel); }
  void on(const KernelSetChanged&, Machine& gpu) override { bind(gpu); }

 private:
  using PerSm = std::vector<std::uint32_t>;

  // T, L and R are the totals of the device, as in section 3, for any number of SMs.
  void bind(Machine& gpu) {
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    const gpu::Resources& sm = gpu.limits().total;
    const gpu::Resources total = {sm.threads * sms, sm.registers * sms, sm.shared_bytes * sms, sm.blocks * sms};
    gpu::Resources left = total;
    std::vector<gpu::Resources> room(sms, sm);
    double weights = 0;
    std::vector<Claim> claims;
    std::vector<KernelId> unbound;
    for (const Kernel& k : gpu.kernels()) {
      weights += k.share;
      const auto bound = workers_.find(k.id);
      if (bound == workers_.end()) {
        claims.push_back({k.footprint, k.share, k.blocks});
        unbound.push_back(k.id);
        continue;
      }
      for (std::uint32_t i = 0; i < sms; ++i) {
        room[i] = gpu::less(room[i], k.footprint, bound->second[i]);
        left = gpu::less(left, k.footprint, bound->second[i]);
      }
    }
    const auto counts = accelos_shares(claims, total, left, weights);
    const auto placed = spread(claims, counts, room);
    for (std::size_t i = 0; i < unbound.size(); ++i) {
      if (std::all_of(placed[i].begin(), placed[i].end(), [](auto n) { return n == 0; })) continue;
      workers_[unbound[i]] = placed[i];  // a launch without workers waits until a bound launch ends
      for (const Sm& to : gpu.sms()) gpu.cap(to.id, unbound[i], placed[i][to.index]);
    }
  }

  // The workers of one launch per SM: as many rounds over the SMs that have room as all of these have room for.
  static PerSm spread_one(const Claim& claim, std::uint32_t count, std::span<gpu::Resources> room) {
    PerSm placed(room.size(), 0);
    std::vector<std::size_t> open(room.size());
    std::iota(open.begin(), open.end(), 0);
    while (count != 0) {
      std::uint32_t rounds = kNoCap;
      std::erase_if(open, [&](std::size_t sm) { return gpu::fit(claim.footprint, room[sm]) == 0; });
      if (open.empty()) break;
      for (const std::size_t sm : open) rounds = std::min(rounds, gpu::fit(claim.footprint, room[sm]));
      rounds = std::min(rounds, count / static_cast<std::uint32_t>(open.size()));
      if (rounds == 0) {  // the last workers go where most threads are free
        std::stable_sort(open.begin(), open.end(),
                         [&](std::size_t a, std::size_t b) { return room[a].threads > room[b].threads; });
        for (std::uint32_t i = 0; i < count; ++i) ++placed[open[i]];
        break;
      }
      for (const std::size_t sm : open) {
        room[sm] = gpu::less(room[sm], claim.footprint, rounds);
        placed[sm] += rounds;
      }
      count -= rounds * static_cast<std::uint32_t>(open.size());
    }
    return placed;
  }

  // Distributes workers over SMs, one of each launch in turn, to the SM where the launch has fewest workers and, among
  // those, most threads are free.
  static std::vector<PerSm> spread(std::span<const Claim> claims, std::span<const std::uint32_t> counts,
                                   std::vector<gpu::Resources> room) {
    if (claims.size() == 1) return {spread_one(claims[0], counts[0], room)};
    std::vector<PerSm> placed(claims.size(), PerSm(room.size(), 0));
    std::vector<std::uint32_t> left(counts.begin(), counts.end());
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t i = 0; i < claims.size(); ++i) {
        if (left[i] == 0) continue;
        std::size_t best = room.size();
        for (std::size_t sm = 0; sm < room.size(); ++sm) {
          if (gpu::fit(claims[i].footprint, room[sm]) == 0) continue;
          const bool better = best == room.size() || placed[i][sm] < placed[i][best] ||
                              (placed[i][sm] == placed[i][best] && room[sm].threads > room[best].threads);
          if (better) best = sm;
        }
        left[i] = best == room.size() ? 0 : left[i] - 1;
        if (best == room.size()) continue;
        room[best] = gpu::less(room[best], claims[i].footprint);
        ++placed[i][best];
        grew = true;
      }
    }
    return placed;
  }

  std::map<KernelId, PerSm> workers_;  // workers of the launches that are bound
};

}  // namespace

WM_POLICY(AccelOs, {.name = "accelos",
                    .about = "equal shares of threads, local memory and registers, for the life of a launch",
                    .paper = "Margiolas and O'Boyle (accelOS), CGO 2016, section 3",
                    .waits = Waits::for_earlier,
                    .needs = {Can::cap_blocks}})

}  // namespace wm::policy
