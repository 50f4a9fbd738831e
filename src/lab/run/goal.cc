#include "lab/run/goal.h"

#include <fmt/format.h>

#include "exec/run.h"
#include "gpu/gpu_config.h"
#include "lab/run/participant.h"
#include "policy/algorithm/quotas.h"

namespace wm::lab {
namespace {

// Thread instructions of the timed kernels in one run of the application.
Result<std::uint64_t> instructions_of(const Participant& p) {
  const auto ran = exec::run_application(*p.module, *p.application, {}, p.ptx_file);
  if (!ran) return ran.error();
  std::uint64_t sum = 0;
  for (const exec::LaunchRecord& l : ran->launches)
    if (p.entry.empty() || l.kernel == p.entry) sum += l.statistics.thread_instructions;
  return sum;
}

}  // namespace

Picoseconds transfer_time(const gpu::GpuConfig& gpu, const gpu::Application& application) {
  Picoseconds sum;
  for (const gpu::Step& s : application.steps)
    if (const auto* t = std::get_if<gpu::Transfer>(&s))
      sum += Picoseconds{gpu.host.latency_ps + t->bytes * 1'000'000 / gpu.host.bytes_per_microsecond};
  return sum;
}

Result<std::optional<double>> goal_ipc(const gpu::GpuConfig& gpu, const Participant& p, double isolated_ipc) {
  if (p.goal) return std::optional(*p.goal * isolated_ipc);
  if (p.goal_ipc) return p.goal_ipc;
  if (!p.goal_time && !p.goal_rate) return std::optional<double>{};
  const auto instructions = instructions_of(p);
  if (!instructions) return instructions.error();
  const Hertz clock{std::uint64_t{gpu.sm.clock_mhz} * 1'000'000};
  const Picoseconds transfers = transfer_time(gpu, *p.application);
  const auto n = static_cast<double>(*instructions);
  const double ipc = p.goal_time ? policy::goal_from_time(n, clock, *p.goal_time, transfers)
                                 : policy::goal_from_rate(n, clock, *p.goal_rate, transfers);
  if (ipc == 0)
    return Error{fmt::format("kernel '{}' cannot meet its goal: its transfers take {:.3f} ms", p.name,
                             static_cast<double>(transfers.count) * 1e-9)};
  return std::optional(ipc);
}

}  // namespace wm::lab
