#include "lab/run/steady_length.h"

#include <algorithm>

namespace wm::lab {

bool needs_length(const RunSpec& spec) {
  if (spec.cycles != 0 || spec.runs != 0) return false;
  return std::any_of(spec.kernels.begin(), spec.kernels.end(),
                     [](const KernelSpec& k) { return k.launches == 0 && k.requests.arrivals.empty(); });
}

std::uint64_t steady_length(const RunSpec& spec, std::uint64_t longest_run) {
  std::uint64_t begin = spec.warm;
  for (const KernelSpec& k : spec.kernels) begin = std::max(begin, k.arrive.count);
  return begin + spec.kernels.size() * longest_run * (std::uint64_t{spec.from} + 1);
}

Result<std::uint64_t> longest_isolated_run(const gpu::GpuConfig& gpu, std::vector<Participant> participants,
                                           CorunOptions options) {
  for (Participant& p : participants)
    if (p.launches == 0) p.launches = 1;
  options.cycles = 0;
  options.region = {};
  options.match_instructions = false;
  options.isolated = true;
  // The progress of these runs must not be taken for that of the isolated runs which follow.
  if (options.progress)
    options.progress = [report = options.progress](const std::string& run, double done) {
      report(run + ", one run", done);
    };
  const auto runs = measure_isolated(gpu, participants, options);
  if (!runs) return runs.error();
  std::uint64_t longest = 1;
  for (const IsolatedRate& run : *runs) longest = std::max(longest, run.cycles);
  return longest;
}

}  // namespace wm::lab
