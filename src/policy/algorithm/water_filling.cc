#include "policy/algorithm/water_filling.h"

#include <algorithm>

namespace wm::policy {

std::optional<std::vector<std::uint32_t>> water_fill(std::span<const Sharer> sharers, const gpu::Resources& total) {
  struct State {
    std::vector<double> q;         // Q_i: performances, each better than all before
    std::vector<std::uint32_t> m;  // M_i: the blocks that reach them
    std::size_t g = 0;             // g_i: current index into Q and M
    bool full = false;
  };
  gpu::Resources left = total;  // R_L
  std::vector<State> kernels(sharers.size());
  std::vector<std::uint32_t> t(sharers.size(), 1);  // T_i
  for (std::size_t i = 0; i < sharers.size(); ++i) {
    double best = 0;
    for (std::uint32_t j = 1; j <= sharers[i].performance.size(); ++j) {
      const double p = sharers[i].performance[j - 1];
      if (p <= best && j != 1) continue;  // every kernel gets at least one block, however slow
      best = p;
      kernels[i].q.push_back(p);
      kernels[i].m.push_back(j);
    }
    if (kernels[i].m.empty() || gpu::fit(sharers[i].footprint, left) == 0) return std::nullopt;
    left = gpu::less(left, sharers[i].footprint);
  }

  for (;;) {
    std::size_t s = sharers.size();  // S: the kernel that loses most and may still grow
    for (std::size_t i = 0; i < sharers.size(); ++i) {
      if (kernels[i].full) continue;
      if (s == sharers.size() || kernels[i].q[kernels[i].g] < kernels[s].q[kernels[s].g]) s = i;
    }
    if (s == sharers.size()) return t;
    State& k = kernels[s];
    if (k.g + 1 == k.m.size()) {  // it has its best rate already
      k.full = true;
      continue;
    }
    const std::uint32_t more = k.m[k.g + 1] - k.m[k.g];  // dT
    if (gpu::fit(sharers[s].footprint, left) < more) {
      k.full = true;
      continue;
    }
    left = gpu::less(left, sharers[s].footprint, more);
    ++k.g;
    t[s] += more;
  }
}

double scale_for_bandwidth(double sampled_ipc, double memory_stalls, double psi) {
  return sampled_ipc * (1 + memory_stalls * psi);
}

std::vector<double> normalized(std::span<const double> ipc) {
  std::vector<double> curve(ipc.begin(), ipc.end());
  const double best = curve.empty() ? 0 : *std::max_element(curve.begin(), curve.end());
  for (double& p : curve) p = best > 0 ? p / best : 0;
  return curve;
}

namespace {

void extend(std::span<const gpu::Resources> rest, const gpu::Resources& left, std::vector<std::uint32_t>& chosen,
            std::vector<std::vector<std::uint32_t>>& all) {
  if (rest.empty()) {
    all.push_back(chosen);
    return;
  }
  const std::uint32_t max_blocks = gpu::fit(rest.front(), left);
  for (std::uint32_t n = 1; n <= max_blocks; ++n) {
    chosen.push_back(n);
    extend(rest.subspan(1), gpu::less(left, rest.front(), n), chosen, all);
    chosen.pop_back();
  }
}

}  // namespace

std::vector<std::vector<std::uint32_t>> combinations(std::span<const gpu::Resources> footprints,
                                                     const gpu::Resources& total) {
  std::vector<std::vector<std::uint32_t>> all;
  std::vector<std::uint32_t> chosen;
  if (!footprints.empty()) extend(footprints, total, chosen, all);
  return all;
}

}  // namespace wm::policy
