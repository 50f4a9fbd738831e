#include "lab/run/block_run.h"

#include <chrono>
#include <map>

namespace wm::lab {
namespace {

using App = std::shared_ptr<const sim::BoundApp>;

// Adds a 64-bit number to a hash.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) { return sim::mix_bits(hash ^ number); }

sim::StopRule rule_of(const RunSpec& spec) {
  return {.runs_each = spec.runs, .at = spec.cycles == 0 ? kNever : Cycles{spec.cycles}};
}

struct Isolated {
  double turnaround = 0;
  double ipc = 0;
};

// Runs the application in isolation under the policy left_over: once, or for the length of the co-run.
Result<Isolated> run_isolated(const sim::SystemConfig& config, const App& app, const RunSpec& spec) {
  const auto choice = policy::choose("left_over");
  auto policy = policy::make(*choice, sim::BlockMachine::kCans, "block");
  if (!policy) return policy.error();
  sim::System system(config, **policy, choice->needs(), 1);
  system.add({.name = app->name, .app = app, .runs = spec.cycles == 0 ? 1U : 0U});
  sim::StopRule rule = rule_of(spec);
  if (spec.cycles == 0) rule.runs_each = 1;
  if (auto ran = system.run(rule); !ran) return ran.error();
  const sim::ProcessResult r = system.result(0);
  return Isolated{r.mean_turnaround(), static_cast<double>(r.instructions) / static_cast<double>(system.now().count)};
}

}  // namespace

Result<BlockRunResult> block_run(const sim::SystemConfig& config, const std::vector<BlockParticipant>& participants,
                                 const policy::Choice& choice, const RunSpec& spec, sim::SystemObserver* observer) {
  auto policy = policy::make(choice, sim::BlockMachine::kCans, "block");
  if (!policy) return policy.error();
  BlockRunResult result;
  result.system = config.name;
  result.policy = choice.to_string();
  result.clock = config.machine.clock;
  result.sms = config.machine.sms;
  result.seed = spec.seed;
  sim::System system(config, **policy, choice.needs() | choice.entry->info.uses, spec.seed);
  if (observer != nullptr) system.observe(*observer);
  std::map<std::string, Isolated> known;  // by name: the same application is measured once
  for (const BlockParticipant& p : participants) {
    auto bound = sim::bind_app(p.trace, config.machine.limits, config.machine.clock, config.shared_configurations);
    if (!bound) return bound.error();
    const App app = std::make_shared<const sim::BoundApp>(*std::move(bound));
    if (!known.contains(p.spec.name)) {
      const auto isolated = run_isolated(config, app, spec);
      if (!isolated) return isolated.error();
      known[p.spec.name] = *isolated;
    }
    const Isolated& isolated = known[p.spec.name];
    BlockProcessResult r;
    r.name = p.spec.name;
    r.priority = p.spec.priority;
    r.process = p.spec.process;
    r.isolated_turnaround = isolated.turnaround;
    r.isolated_ipc = isolated.ipc;
    if (p.spec.goal) r.goal = *p.spec.goal * isolated.ipc;
    if (p.spec.goal_ipc) r.goal = *p.spec.goal_ipc;
    system.add({.name = p.spec.name,
                .app = app,
                .priority = p.spec.priority,
                .share = p.spec.share,
                .goal = r.goal.value_or(0),
                .isolated_ipc = isolated.ipc,
                .arrive = p.spec.arrive,
                .runs = p.spec.launches});
    result.processes.push_back(std::move(r));
  }
  const auto began = std::chrono::steady_clock::now();
  if (auto ran = system.run(rule_of(spec)); !ran) return ran.error();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  result.cycles = system.now().count;
  result.run_hash = mixed(0, result.cycles);
  for (std::uint32_t i = 0; i < system.processes(); ++i) {
    BlockProcessResult& r = result.processes[i];
    r.counts = system.result(i);
    r.turnaround = r.counts.mean_turnaround();
    r.ipc = static_cast<double>(r.counts.instructions) / static_cast<double>(std::max<std::uint64_t>(1, result.cycles));
    const bool by_runs = spec.cycles == 0 && r.turnaround > 0;
    r.progress = by_runs ? gpu::Progress::of_times(r.isolated_turnaround, r.turnaround)
                         : gpu::Progress::of_rates(r.isolated_ipc, r.ipc);
    result.blocks += r.counts.blocks;
    for (const std::uint64_t n : {r.counts.blocks, r.counts.launches, r.counts.preemptions, r.counts.instructions})
      result.run_hash = mixed(result.run_hash, n);
    for (const std::uint64_t t : r.counts.turnarounds) result.run_hash = mixed(result.run_hash, t);
  }
  return result;
}

}  // namespace wm::lab
