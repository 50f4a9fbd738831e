// Blocks per second of the block machine: one application, several under a policy that preempts, kernels that share
// SMs, and a GPU with 132 SMs.
#include <benchmark/benchmark.h>
#include <string>
#include <vector>

#include "sim/block/workload.h"

namespace {

using namespace wm;  // NOLINT(google-build-using-namespace)

const std::string kConfigs = WM_CONFIG_DIR;

void run(benchmark::State& state, const std::string& system, const std::string& policy,
         const std::vector<std::string>& apps) {
  const auto config = sim::load_system(system, kConfigs + "/systems", kConfigs + "/gpus");
  if (!config) return state.SkipWithError(config.error().to_string().c_str());
  sim::WorkloadRunner runner(*config, kConfigs + "/apps");
  sim::Workload workload;
  for (const std::string& app : apps) {
    workload.push_back({app, workload.empty() ? 1 : 0});
    (void)runner.isolated_turnaround(app);  // bound and measured before the clock runs
  }
  double blocks = 0;
  for (auto _ : state) {
    const auto result = runner.run(workload, *policy::choose(policy), 1, 1);
    if (!result) return state.SkipWithError(result.error().to_string().c_str());
    blocks += static_cast<double>(result->blocks);
  }
  state.counters["blocks/s"] = benchmark::Counter(blocks, benchmark::Counter::kIsRate);
}

void add(const std::string& name, const std::string& system, const std::string& policy,
         const std::vector<std::string>& apps) {
  benchmark::RegisterBenchmark(("block/" + name).c_str(), [=](benchmark::State& s) {
    run(s, system, policy, apps);
  })->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::vector<std::string> four = {"spmv", "lbm", "sad", "stencil"};
  add("lbm", "k20c", "fcfs", {"lbm"});
  add("four_dss_switch", "k20c", "dss:preemption=switch", four);
  add("four_ppq_drain", "k20c", "ppq:preemption=drain", four);
  add("four_left_over", "k20c", "left_over", four);
  add("four_accelos", "k20c", "accelos", four);
  add("lbm_132_sms", "h200", "fcfs", {"lbm"});
  benchmark::RunSpecifiedBenchmarks();
}
