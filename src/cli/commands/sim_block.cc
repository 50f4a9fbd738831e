#include "cli/commands/sim_block.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/input/data_folder.h"
#include "cli/output/block_report.h"
#include "cli/output/output.h"
#include "cli/output/page_document.h"
#include "cli/output/sim_report.h"
#include "lab/report/block_trace_file.h"
#include "lab/report/page.h"
#include "lab/report/timeline_document.h"
#include "lab/run/block_kernel.h"
#include "lab/run/block_run.h"
#include "lab/run/block_timeline.h"
#include "lab/run/steady_length.h"
#include "sim/block/load_app.h"

namespace wm::cli {
namespace {

// Rates of the zoo's kernels, which the cycle machine measures once for all of them.
class KernelTraces {
 public:
  static Result<KernelTraces> make(const lab::RunSpec& spec, const gpu::GpuConfig& gpu, const RunOptions& options) {
    KernelTraces traces;
    lab::RunSpec kernels = spec;
    std::erase_if(kernels.kernels, [](const lab::KernelSpec& k) { return k.application; });
    if (kernels.kernels.empty()) return traces;
    auto run = load_run(spec, gpu);
    if (!run) return run.error();
    traces.run_ = *std::move(run);
    traces.kernels_ = kernels.kernels;
    lab::CorunOptions measure = options.corun_options(spec);
    measure.cycles = 0;
    for (lab::Participant& p : traces.run_.participants) p.launches = 1;  // the block machine repeats what it measured
    auto measured = lab::measure_isolated(traces.run_.gpu, traces.run_.participants, measure);
    if (!measured) return measured.error();
    traces.rates_ = *std::move(measured);
    return traces;
  }

  [[nodiscard]] Result<sim::AppTrace> trace(const lab::KernelSpec& kernel) const {
    const auto at = static_cast<std::size_t>(std::find(kernels_.begin(), kernels_.end(), kernel) - kernels_.begin());
    return lab::block_trace(run_.gpu, run_.participants[at], rates_[at]);
  }

 private:
  LoadedRun run_;
  std::vector<lab::KernelSpec> kernels_;  // those of the run that are not applications
  std::vector<lab::IsolatedRate> rates_;
};

// Records where blocks are over time, for a page and for the JSON.
class RunRecord {
 public:
  RunRecord(const sim::SystemConfig& system, sim::SystemObserver* trace)
      : gpu_(system.gpu), trace_(trace), blocks_(timeline_, trace, lab::BlockTimeline::Kernels::processes) {}

  [[nodiscard]] sim::SystemObserver* observer() { return &blocks_; }
  [[nodiscard]] sim::SystemObserver* trace() { return trace_; }
  void finish(const lab::BlockRunResult& run) {
    for (const lab::BlockProcessResult& p : run.processes) {
      shown_.kernels.emplace_back().name = p.name;
      shown_.kernels.back().goal = p.goal;
    }
    blocks_.finish(run.cycles, run.processes.size());
  }
  [[nodiscard]] nlohmann::ordered_json timeline() const { return lab::timeline_document(gpu_, shown_, timeline_); }

 private:
  const gpu::GpuConfig& gpu_;
  sim::SystemObserver* trace_;
  sim::Timeline timeline_{kPageInterval};
  lab::BlockTimeline blocks_;
  lab::CorunResult shown_;  // names and goals of the processes
};

// Settings that the block machine would ignore are mistakes.
Result<void> check_settings(const lab::RunSpec& spec) {
  if (spec.match_instructions) return Error{"--match-instructions needs the cycle machine"};
  for (const lab::KernelSpec& k : spec.kernels)
    if (k.goal_time || k.goal_rate || k.blocks_per_sm != 0)
      return Error{fmt::format("'{}': time, rate and blocks need the cycle machine", k.name)};
  return {};
}

Result<void> check_requests(const lab::RunSpec& spec) {
  for (const lab::KernelSpec& k : spec.kernels) {
    const lab::RequestSpec& r = k.requests;
    if (r == lab::RequestSpec{}) continue;
    if (!k.application) return Error{fmt::format("kernel '{}': requests, class and deadline belong to --app", k.name)};
    if (r.arrivals.empty())
      return Error{fmt::format("'{}': class and deadline need poisson, bursts or requests", k.name)};
    const bool ends = spec.cycles != 0 || spec.runs != 0 || k.launches != 0 || r.arrivals.starts_with("requests=");
    if (!ends) return Error{fmt::format("'{}': {} needs --cycles, --runs or launches=N", k.name, r.arrivals)};
  }
  return {};
}

}  // namespace

Result<lab::BlockApps*> BlockCells::apps_of(const std::string& system) {
  const std::scoped_lock lock(mutex_);
  auto& apps = systems_[system];
  if (apps != nullptr) return apps.get();
  auto config = sim::load_system(system, system_folder(), gpu_folder());
  if (!config) return config.error();
  apps = std::make_unique<lab::BlockApps>(*std::move(config),
                                          [](const lab::KernelSpec& k) { return sim::load_app(k.name, app_folder()); });
  return apps.get();
}

Result<std::string> BlockCells::run(const lab::RunSpec& spec) {
  const auto policy = policy::choose(spec.policy.to_string());
  if (!policy) return policy.error();
  const auto apps = apps_of(spec.gpu);
  if (!apps) return apps.error();
  const auto result = lab::block_run(**apps, *policy, spec);
  if (!result) return result.error();
  return json_of(*result).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<int> run_block(lab::RunSpec spec, const BlockOptions& options) {
  if (auto fits = check_settings(spec); !fits) return fits.error();
  if (auto fits = check_requests(spec); !fits) return fits.error();
  const auto policy = policy::choose(spec.policy.to_string());
  if (!policy) return policy.error();
  auto system = sim::load_system(spec.gpu, system_folder(), gpu_folder());
  if (!system) return system.error();
  const bool any_app =
      std::any_of(spec.kernels.begin(), spec.kernels.end(), [](const lab::KernelSpec& k) { return k.application; });
  if (!any_app) {  // kernels by themselves have no host: nothing lies between their launches
    system->cpu = {.cores = 1024, .threads_per_core = 1, .api_call = {0}};
    system->dispatch_latency = {0};
  }
  const auto kernels = KernelTraces::make(spec, system->gpu, *options.run);
  if (!kernels) return kernels.error();
  std::vector<std::string> names;
  for (const lab::KernelSpec& k : spec.kernels) names.push_back(k.name);
  lab::BlockTraceFile trace(names, system->machine.sms, system->machine.clock);
  lab::BlockApps apps(*system, [&](const lab::KernelSpec& k) {
    return k.application ? sim::load_app(k.name, app_folder()) : kernels->trace(k);
  });
  const bool length_chosen = !options.is_cell && lab::needs_length(spec);
  if (length_chosen) {
    double longest = 1;
    for (const lab::KernelSpec& k : spec.kernels) {
      const auto app = apps.find(k, spec);
      if (!app) return app.error();
      longest = std::max(longest, app->turnaround * std::max(1U, k.launches));
    }
    spec.cycles = lab::steady_length(spec, static_cast<std::uint64_t>(longest));
  }
  std::string decisions;
  RunRecord record(*system, options.trace.empty() ? nullptr : &trace);
  const bool shown = options.timeline || !options.html.empty();
  const auto result = lab::block_run(apps, *policy, spec, shown ? record.observer() : record.trace(),
                                     options.decisions.empty() ? nullptr : &decisions);
  if (!result) return result.error();
  if (!options.decisions.empty())
    if (auto written = write_file(options.decisions, decisions); !written) return written.error();
  if (!options.trace.empty())
    if (auto written = write_file(options.trace, trace.text(result->cycles)); !written) return written.error();
  const Output output(options.json);
  output.say(text_of(*result));
  if (length_chosen) output.say(note_of_length(spec.kernels.size()));
  if (shown) record.finish(*result);
  if (!options.json.empty()) {
    auto document = json_of(*result);
    if (options.timeline) document["timeline"] = record.timeline();
    if (auto done = output.document(document); !done) return done.error();
  }
  if (options.html.empty()) return 0;
  std::string title;
  for (const std::string& name : names) title += (title.empty() ? "" : " + ") + name;
  const Page page{.title = title, .about = "Processes on a simulated GPU.", .command = lab::command_of(spec)};
  if (auto done = lab::write_page(options.html, document_of(page, *result, record.timeline())); !done)
    return done.error();
  output.say(fmt::format("\n{} shows it.\n", options.html));
  return 0;
}

}  // namespace wm::cli
