#include "cli/commands/sim_block.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "cli/input/data_folder.h"
#include "cli/output/block_report.h"
#include "cli/output/output.h"
#include "lab/report/block_trace_file.h"
#include "lab/run/block_kernel.h"
#include "lab/run/block_run.h"
#include "sim/block/load_app.h"

namespace wm::cli {
namespace {

// Applications from their files; kernels of the zoo as the cycle machine measures them.
Result<std::vector<lab::BlockParticipant>> load_participants(const lab::RunSpec& spec, const RunOptions& options) {
  std::vector<lab::BlockParticipant> all;
  const bool any_kernel =
      std::any_of(spec.kernels.begin(), spec.kernels.end(), [](const lab::KernelSpec& k) { return !k.application; });
  LoadedRun loaded;
  std::vector<lab::IsolatedRate> rates;
  if (any_kernel) {
    auto run = load_run(spec);
    if (!run) return run.error();
    loaded = *std::move(run);
    lab::CorunOptions measure = options.corun_options(spec);
    measure.cycles = 0;
    auto measured = lab::measure_isolated(loaded.gpu, loaded.participants, measure);
    if (!measured) return measured.error();
    rates = *std::move(measured);
  }
  std::size_t kernel = 0;
  for (const lab::KernelSpec& k : spec.kernels) {
    auto trace = k.application ? sim::load_app(k.name, app_folder())
                               : lab::block_trace(loaded.gpu, loaded.participants[kernel], rates[kernel]);
    if (!trace) return trace.error();
    kernel += k.application ? 0 : 1;
    all.push_back({k, *std::move(trace)});
  }
  return all;
}

}  // namespace

Result<int> run_block(const lab::RunSpec& spec, const BlockOptions& options) {
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
  const auto participants = load_participants(spec, *options.run);
  if (!participants) return participants.error();
  std::vector<std::string> names;
  for (const lab::BlockParticipant& p : *participants) names.push_back(p.spec.name);
  lab::BlockTraceFile trace(names, system->machine.sms, system->machine.clock);
  const auto result = lab::block_run(*system, *participants, *policy, spec, options.trace.empty() ? nullptr : &trace);
  if (!result) return result.error();
  if (!options.trace.empty())
    if (auto written = write_file(options.trace, trace.text()); !written) return written.error();
  const Output output(options.json);
  output.say(text_of(*result));
  if (!options.json.empty())
    if (auto done = output.document(json_of(*result)); !done) return done.error();
  return 0;
}

}  // namespace wm::cli
