#include "lab/validation/simulated_launches.h"

#include <memory>

#include "ptx/contraction.h"
#include "ptx/parse.h"
#include "sim/cycle/machine.h"

namespace wm::lab {
namespace {

// A policy that takes no action and records when launches arrive and end.
class LaunchTimes final : public policy::Policy {
 public:
  struct Stamp {
    std::uint64_t arrived = 0;
    std::uint64_t done = 0;
    sim::SmCounters sm{};  // up to its end, as the next
    sim::PartitionCounters memory{};
  };

  explicit LaunchTimes(const sim::CycleMachine& machine) : machine_(machine) {}

  void on(const policy::KernelArrived&, policy::Machine& gpu) override {
    stamps.push_back({.arrived = gpu.now().count});
  }
  void on(const policy::KernelDone&, policy::Machine& gpu) override {
    const sim::ClientTotals totals = machine_.totals(0);
    stamps.back().done = gpu.now().count;
    stamps.back().sm = totals.sm;
    stamps.back().memory = totals.memory;
  }

  std::vector<Stamp> stamps;

 private:
  const sim::CycleMachine& machine_;
};

// The application up to its `launches`-th launch.
gpu::Application beginning(const gpu::Application& application, std::uint32_t launches) {
  gpu::Application part{.buffers = application.buffers, .steps = {}};
  for (const gpu::Step& s : application.steps) {
    if (std::holds_alternative<gpu::Launch>(s) && launches-- == 0) break;
    part.steps.push_back(s);
  }
  return part;
}

}  // namespace

Result<SimulatedRun> simulate(const gpu::GpuConfig& gpu, std::string_view ptx, const gpu::Application& application,
                              std::uint32_t launches) {
  auto module = ptx::parse(ptx);
  if (!module) return module.error();
  auto machine = sim::CycleMachine::make(gpu, 1, 1);
  if (!machine) return machine.error();
  sim::ClientSpec spec;
  spec.name = "isolated";
  spec.module = std::make_shared<const ptx::Module>(ptx::contracted(*std::move(module)));
  spec.application =
      std::make_shared<const gpu::Application>(launches == 0 ? application : beginning(application, launches));
  const auto app = spec.application;
  if (auto r = (*machine)->add(std::move(spec)); !r) return r.error();
  LaunchTimes times(**machine);
  if (auto r = (*machine)->run(times, {}); !r) return r.error();
  if (const auto fault = (*machine)->totals(0).fault) return Error{*fault};
  SimulatedRun run;
  LaunchTimes::Stamp before;
  for (const gpu::Step& s : app->steps) {
    const auto* launch = std::get_if<gpu::Launch>(&s);
    if (launch == nullptr) continue;
    const LaunchTimes::Stamp& stamp = times.stamps[run.launches.size()];
    run.launches.push_back({.kernel = launch->kernel,
                            .cycles = stamp.done - stamp.arrived,
                            .warp_instructions = stamp.sm.warp_instructions - before.sm.warp_instructions,
                            .issued = stamp.sm.issued - before.sm.issued,
                            .l2_sectors = stamp.memory.l2_sectors - before.memory.l2_sectors,
                            .dram_read_sectors = stamp.memory.dram_read_sectors - before.memory.dram_read_sectors,
                            .dram_write_sectors = stamp.memory.dram_write_sectors - before.memory.dram_write_sectors});
    before = stamp;
  }
  auto buffers = (*machine)->client(0).buffers();
  if (!buffers) return buffers.error();
  run.buffers = *std::move(buffers);
  return run;
}

}  // namespace wm::lab
