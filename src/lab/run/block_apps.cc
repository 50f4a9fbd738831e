#include "lab/run/block_apps.h"

#include <fmt/format.h>

#include "policy/registry.h"

namespace wm::lab {

sim::StopRule stop_rule(const RunSpec& spec) {
  return {.runs_each = spec.runs, .at = spec.cycles == 0 ? kNever : Cycles{spec.cycles}};
}

Result<BlockApp> BlockApps::find(const KernelSpec& kernel, const RunSpec& spec) {
  const std::scoped_lock lock(mutex_);
  const std::string key = fmt::format("{} {} {} {}", kernel.name, kernel.size, spec.cycles, spec.seed);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const auto trace = load_(kernel);
  if (!trace) return trace.error();
  auto bound = sim::bind_app(*trace, system_.machine.limits, system_.machine.clock, system_.shared_configurations);
  if (!bound) return bound.error();
  BlockApp app{.bound = std::make_shared<const sim::BoundApp>(*std::move(bound))};

  const auto choice = policy::choose("left_over");
  auto policy = policy::make(*choice, sim::BlockMachine::kCans, "block");
  if (!policy) return policy.error();
  sim::System system(system_, **policy, choice->needs(), spec.seed);
  system.add({.name = trace->name, .app = app.bound, .runs = spec.cycles == 0 ? 1U : 0U});
  sim::StopRule rule = stop_rule(spec);
  if (spec.cycles == 0) rule.runs_each = 1;
  if (auto ran = system.run(rule); !ran) return ran.error();
  const sim::ProcessResult r = system.result(0);
  app.turnaround = r.mean_turnaround();
  app.ipc = static_cast<double>(r.instructions) / static_cast<double>(std::max<std::uint64_t>(1, system.now().count));
  app.gpu_part = std::min(
      1.0, static_cast<double>(r.gpu_cycles) / static_cast<double>(std::max<std::uint64_t>(1, system.now().count)));
  return known_[key] = std::move(app);
}

}  // namespace wm::lab
