#include "lab/run/block_run.h"

#include <chrono>
#include <map>

#include "policy/logged_policy.h"

namespace wm::lab {
namespace {

// Adds a 64-bit number to a hash.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) { return sim::mix_bits(hash ^ number); }

// The arrivals of the requests of process `index`; none where it has no requests.
Result<sim::Arrivals> arrivals_of(const RunSpec& spec, std::size_t index, Hertz clock) {
  const std::string& text = spec.kernels[index].requests.arrivals;
  if (text.empty()) return sim::Arrivals{};
  return sim::parse_arrivals(text, clock, sim::mix_bits(spec.seed + 0x10000 * (index + 1)));
}

// Arrivals by `end`; a process takes at most `runs` of them, 0: all.
std::uint64_t arrived_by(sim::Arrivals arrivals, Cycles end, std::uint64_t runs) {
  std::uint64_t arrived = 0;
  for (auto at = arrivals.next(); at && *at <= end && (runs == 0 || arrived < runs); at = arrivals.next()) ++arrived;
  return arrived;
}

Result<std::vector<ServiceClass>> service_classes(const BlockRunResult& result, const RunSpec& spec) {
  std::map<std::string, std::vector<std::uint64_t>> latencies;
  std::map<std::string, std::uint64_t> on_time;
  std::map<std::string, std::uint64_t> arrived;
  for (std::size_t i = 0; i < spec.kernels.size(); ++i) {
    const RequestSpec& r = spec.kernels[i].requests;
    if (r.arrivals.empty()) continue;
    const std::string& name = r.service_class.empty() ? spec.kernels[i].name : r.service_class;
    const std::uint64_t deadline = r.deadline ? sim::to_cycles(*r.deadline, result.clock) : sim::kNoEvent;
    for (const std::uint64_t t : result.processes[i].counts.turnarounds) {
      latencies[name].push_back(t);
      on_time[name] += t <= deadline ? 1 : 0;
    }
    latencies[name];
    const auto arrivals = arrivals_of(spec, i, result.clock);
    if (!arrivals) return arrivals.error();
    arrived[name] += arrived_by(*arrivals, {result.cycles}, spec.kernels[i].launches);
  }
  std::vector<ServiceClass> classes;
  for (const auto& [name, all] : latencies)
    classes.push_back({.name = name,
                       .arrived = arrived[name],
                       .requests = all.size(),
                       .on_time = on_time[name],
                       .p50 = sim::percentile(all, 0.5),
                       .p99 = sim::percentile(all, 0.99)});
  return classes;
}

// How long processes may take for their runs: this many times as long as all runs one after the other, after the last
// of the requests that count.
constexpr double kPatience = 1000;
// More runs than these have no limit, so that finding the last of their requests takes no time.
constexpr std::uint32_t kMaxRunsWithPatience = 1'000'000;

class Patience {
 public:
  // A run with a number of cycles ends by itself.
  explicit Patience(const RunSpec& spec)
      : runs_(spec.cycles == 0 && spec.runs <= kMaxRunsWithPatience ? spec.runs : 0) {}

  void add(const KernelSpec& kernel, const BlockApp& app, sim::Arrivals arrivals) {
    busy_ += std::max(1.0, app.turnaround) * runs_;
    last_arrival_ = std::max(last_arrival_, kernel.arrive);
    for (std::uint32_t i = 0; arrivals.open() && i < runs_; ++i) {
      const auto at = arrivals.next();
      if (!at) break;
      last_arrival_ = std::max(last_arrival_, *at);
    }
  }
  [[nodiscard]] Cycles end() const {
    const double end = static_cast<double>(last_arrival_.count) + kPatience * busy_;
    return runs_ == 0 || end > 1e18 ? kNever : Cycles{static_cast<std::uint64_t>(end)};
  }

 private:
  std::uint32_t runs_;  // 0: no limit
  double busy_ = 0;     // cycles of all runs in isolation
  Cycles last_arrival_;
};

}  // namespace

Result<BlockRunResult> block_run(BlockApps& apps, const policy::Choice& choice, const RunSpec& spec,
                                 sim::SystemObserver* observer, std::string* decisions) {
  const sim::SystemConfig& config = apps.system();
  auto policy = policy::make(choice, sim::BlockMachine::kCans, "block");
  if (!policy) return policy.error();
  BlockRunResult result;
  result.system = config.name;
  result.policy = choice.to_string();
  result.clock = config.machine.clock;
  result.sms = config.machine.sms;
  result.seed = spec.seed;
  const policy::LoggedPolicy* log = policy::log_decisions(decisions != nullptr, *policy, choice);
  sim::System system(config, **policy, choice.needs() | choice.entry->info.uses, spec.seed);
  if (observer != nullptr) system.observe(*observer);
  Patience patience(spec);
  for (const KernelSpec& kernel : spec.kernels) {
    const auto app = apps.find(kernel, spec);
    if (!app) return app.error();
    BlockProcessResult r;
    r.name = kernel.name;
    r.priority = kernel.priority;
    r.process = kernel.process;
    r.isolated_turnaround = app->turnaround;
    r.isolated_ipc = app->ipc;
    if (kernel.goal) r.goal = *kernel.goal * app->ipc;
    if (kernel.goal_ipc) r.goal = *kernel.goal_ipc;
    auto arrivals = arrivals_of(spec, system.processes(), config.machine.clock);
    if (!arrivals) return arrivals.error();
    patience.add(kernel, *app, *arrivals);
    system.add({.name = kernel.name,
                .app = app->bound,
                .priority = kernel.priority,
                .share = kernel.share,
                .group = kernel.process,
                .goal = r.goal.value_or(0),
                .isolated_ipc = app->ipc,
                .arrive = kernel.arrive,
                .runs = kernel.launches,
                .arrivals = *std::move(arrivals)});
    result.processes.push_back(std::move(r));
  }
  const auto began = std::chrono::steady_clock::now();
  sim::StopRule rule = stop_rule(spec);
  rule.patience = patience.end();
  if (auto ran = system.run(rule); !ran) return ran.error();
  if (log != nullptr) *decisions = log->log();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  result.cycles = system.now().count;
  result.window = std::max(result.cycles, spec.cycles);
  result.run_hash = mixed(0, result.cycles);
  for (std::uint32_t i = 0; i < system.processes(); ++i) {
    BlockProcessResult& r = result.processes[i];
    r.counts = system.result(i);
    r.turnaround = r.counts.mean_turnaround();
    r.ipc = static_cast<double>(r.counts.instructions) / static_cast<double>(std::max<std::uint64_t>(1, result.cycles));
    const bool open = !spec.kernels[i].requests.arrivals.empty();
    const bool by_runs = (spec.cycles == 0 || open) && r.turnaround > 0;
    r.progress = by_runs ? gpu::Progress::of_times(r.isolated_turnaround, r.turnaround)
                         : gpu::Progress::of_rates(r.isolated_ipc, r.ipc);
    result.blocks += r.counts.blocks;
    for (const std::uint64_t n : {r.counts.blocks, r.counts.launches, r.counts.preemptions, r.counts.instructions})
      result.run_hash = mixed(result.run_hash, n);
    for (const std::uint64_t t : r.counts.turnarounds) result.run_hash = mixed(result.run_hash, t);
  }
  auto classes = service_classes(result, spec);
  if (!classes) return classes.error();
  result.classes = *std::move(classes);
  return result;
}

}  // namespace wm::lab
