#include "lab/run/block_kernel.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/block/machine.h"
#include "sim/cycle/client.h"

namespace wm::lab {
namespace {

// The time of an isolated launch, relative to that of a block on a full SM. Blocks on an SM that is not full take less
// where fewer of them saturate it (sim/block/sm_unit.h).
double waves_of(const sim::KernelDescription& k, std::uint32_t resident, std::uint32_t sms) {
  const std::uint32_t slots = resident * sms;
  const std::uint32_t last = k.blocks % slots;
  const double full = k.blocks / slots;
  if (last == 0) return full;
  const double filled = static_cast<double>((last + sms - 1) / sms) / resident;
  return full + std::max(k.saturation, filled);
}

}  // namespace

Result<sim::AppTrace> block_trace(const gpu::GpuConfig& gpu, const Participant& participant,
                                  const IsolatedRate& isolated) {
  sim::ClientSpec spec = client_spec(participant, 0, 0);
  spec.launches = 1;
  auto client = sim::Client::make(spec, gpu);
  if (!client) return client.error();
  sim::AppTrace app;
  app.name = participant.name;
  const sim::BlockMachineSpec machine = sim::block_machine_spec(gpu);
  double waves = 0;
  std::uint64_t blocks = 0;
  for (;;) {
    const auto more = (*client)->next_launch();
    if (!more) return more.error();
    if (!*more) break;
    const sim::TimedLaunch& launch = (*client)->current();
    const auto resident = gpu::max_blocks(launch.demand, machine.limits);
    if (!resident)
      return Error{
          fmt::format("kernel '{}' cannot run on '{}': {}", participant.name, gpu.name, resident.error().what)};
    sim::KernelDescription k;
    k.name = fmt::format("{}/{}", participant.name, launch.function);
    k.blocks = static_cast<std::uint32_t>(launch.grid.blocks.count());
    k.threads = launch.demand.threads;
    const gpu::Resources footprint = gpu::footprint(launch.demand, machine.limits);
    k.registers = footprint.registers;
    k.shared_bytes = footprint.shared_bytes;
    k.saturation = participant.saturation;
    waves += waves_of(k, *resident, gpu.sm.count);
    blocks += k.blocks;
    const auto at = std::find_if(app.kernels.begin(), app.kernels.end(),
                                 [&](const sim::KernelDescription& d) { return d.name == k.name; });
    app.steps.push_back({.kind = sim::TraceStep::Kind::launch,
                         .asynchronous = true,
                         .stream = 0,
                         .amount = static_cast<std::uint64_t>(at - app.kernels.begin())});
    if (at == app.kernels.end()) app.kernels.push_back(std::move(k));
  }
  app.steps.push_back({.kind = sim::TraceStep::Kind::sync});
  const double cycles = static_cast<double>(isolated.cycles) / std::max(1.0, waves);
  const double picoseconds = cycles * 1e6 / gpu.sm.clock_mhz;
  for (sim::KernelDescription& k : app.kernels) {
    k.block_time = {std::max<std::uint64_t>(1, static_cast<std::uint64_t>(picoseconds))};
    k.block_instructions = isolated.instructions / std::max<std::uint64_t>(1, blocks);
  }
  return app;
}

}  // namespace wm::lab
