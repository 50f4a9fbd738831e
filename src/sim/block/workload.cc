#include "sim/block/workload.h"

#include <utility>

#include "base/random.h"
#include "sim/block/load_app.h"

namespace wm::sim {

std::vector<Workload> random_workloads(const std::vector<std::string>& apps, std::uint32_t processes,
                                       std::uint32_t count, int first_priority, std::uint64_t seed) {
  Random random(seed);
  std::vector<Workload> all(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    all[i].push_back({apps[i % apps.size()], first_priority});
    while (all[i].size() < processes)
      all[i].push_back({apps[random.below(static_cast<std::uint32_t>(apps.size()))], 0});
  }
  return all;
}

Result<std::unique_ptr<policy::Policy>> WorkloadRunner::make(const policy::Choice& policy) const {
  return policy::make(policy, BlockMachine::kCans, "block");
}

Result<std::shared_ptr<const BoundApp>> WorkloadRunner::app(const std::string& name) {
  if (const auto known = apps_.find(name); known != apps_.end()) return known->second;
  const auto trace = load_app(name, app_folder_);
  if (!trace) return trace.error();
  auto bound = bind_app(*trace, config_.machine.limits, config_.machine.clock, config_.shared_configurations);
  if (!bound) return bound.error();
  return apps_[name] = std::make_shared<const BoundApp>(*std::move(bound));
}

Result<double> WorkloadRunner::isolated_turnaround(const std::string& name) {
  if (const auto known = isolated_.find(name); known != isolated_.end()) return known->second;
  auto bound = app(name);
  if (!bound) return bound.error();
  const auto fcfs = policy::choose("fcfs");
  auto policy = make(*fcfs);
  if (!policy) return policy.error();
  System system(config_, **policy, fcfs->needs(), 1);
  system.add({.name = name, .app = *bound, .runs = 1});
  if (auto ran = system.run({.runs_each = 1}); !ran) return ran.error();
  return isolated_[name] = system.result(0).mean_turnaround();
}

Result<WorkloadResult> WorkloadRunner::run(const Workload& workload, const policy::Choice& choice, std::uint32_t runs,
                                           std::uint64_t seed) {
  auto policy = make(choice);
  if (!policy) return policy.error();
  System system(config_, **policy, choice.needs() | choice.entry->info.uses, seed);
  for (const WorkloadProcess& p : workload) {
    auto bound = app(p.app);
    if (!bound) return bound.error();
    system.add({.name = p.app, .app = *bound, .priority = p.priority});
  }
  if (auto ran = system.run({.runs_each = runs}); !ran) return ran.error();
  WorkloadResult result;
  result.cycles = system.now().count;
  for (std::uint32_t i = 0; i < system.processes(); ++i) {
    const auto isolated = isolated_turnaround(workload[i].app);
    if (!isolated) return isolated.error();
    result.processes.push_back(system.result(i));
    result.blocks += result.processes.back().blocks;
    result.progress.push_back(gpu::Progress::of_times(*isolated, result.processes.back().mean_turnaround()));
  }
  return result;
}

}  // namespace wm::sim
