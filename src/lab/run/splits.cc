#include "lab/run/splits.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/algorithm/water_filling.h"
#include "sim/cycle/client.h"

namespace wm::lab {
namespace {

Result<gpu::Resources> largest_block(const gpu::GpuConfig& gpu, Participant p, const gpu::SmLimits& limits) {
  p.launches = 1;
  auto client = sim::Client::make(client_spec(p, 0, 0), gpu);
  if (!client) return client.error();
  gpu::Resources footprint;
  std::uint64_t max_threads = 0;
  for (;;) {
    const auto more = (*client)->next_launch();
    if (!more) return more.error();
    if (!*more) return footprint;
    const sim::TimedLaunch& launch = (*client)->current();
    const std::uint64_t threads = launch.grid.blocks.count() * launch.demand.threads;
    if (threads <= max_threads) continue;
    max_threads = threads;
    footprint = gpu::footprint(launch.demand, limits);
  }
}

}  // namespace

Result<std::vector<std::string>> splits(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                        bool full) {
  const auto machine = sim::CycleMachine::make(gpu, 1, 1);
  if (!machine) return machine.error();
  const gpu::SmLimits& limits = (*machine)->limits();
  std::vector<gpu::Resources> footprints;
  for (const Participant& p : participants) {
    const auto footprint = largest_block(gpu, p, limits);
    if (!footprint) return footprint.error();
    footprints.push_back(*footprint);
  }
  std::vector<std::string> all;
  for (const auto& blocks : policy::combinations(footprints, limits.total)) {
    gpu::Resources left = limits.total;
    for (std::size_t i = 0; i < blocks.size(); ++i) left = gpu::less(left, footprints[i], blocks[i]);
    const bool room = std::any_of(footprints.begin(), footprints.end(),
                                  [&](const gpu::Resources& f) { return gpu::fit(f, left) > 0; });
    if (!full || !room) all.push_back(fmt::format("{}", fmt::join(blocks, "/")));
  }
  return all;
}

}  // namespace wm::lab
