#include "lab/run/metrics.h"

#include <algorithm>

#include "gpu/metrics.h"

namespace wm::lab {

Metrics metrics_of(const CorunResult& run) {
  Metrics m;
  std::vector<gpu::Progress> progress;
  double instructions = 0;
  for (const KernelResult& k : run.kernels) {
    if (k.isolated_ipc > 0) progress.push_back(gpu::Progress::of_rates(k.isolated_ipc, k.ipc));
    instructions += static_cast<double>(k.totals.sm.thread_instructions);
    m.starved = std::max(m.starved, k.starved);
    if (!k.goal) continue;
    ++m.goals;
    if (*k.reached()) ++m.reached;
  }
  m.known = progress.size() == run.kernels.size();
  m.stp = gpu::stp(progress);
  m.antt = gpu::antt(progress);
  m.worst_ntt = gpu::worst_ntt(progress);
  m.fairness = gpu::fairness(progress);
  m.unfairness = gpu::unfairness(progress);
  m.ipc = run.cycles == 0 ? 0 : instructions / static_cast<double>(run.cycles);
  return m;
}

std::uint64_t warp_instructions(const CorunResult& run) {
  std::uint64_t sum = 0;
  for (const KernelResult& k : run.kernels) sum += k.totals.sm.warp_instructions;
  return sum;
}

}  // namespace wm::lab
