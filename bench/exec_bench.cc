// Functional execution: warp instructions per second of the benchmarks named in docs/results/benchmarks.md.
#include <benchmark/benchmark.h>
#include <string>
#include <string_view>

#include "bench/tiled_sgemm.h"
#include "exec/measure.h"
#include "kernels/benchmark.h"
#include "ptx/parse.h"

namespace {

using namespace wm;

void execute(benchmark::State& state, const ptx::Module& module, const gpu::Application& application) {
  double instructions = 0;
  for (auto _ : state) {
    const auto measured = exec::measure_application(module, application, 1);
    if (!measured) return state.SkipWithError(measured.error().to_string().c_str());
    state.SetIterationTime(measured->seconds);
    instructions += static_cast<double>(measured->statistics.warp_instructions);
  }
  state.counters["warp_instructions"] = benchmark::Counter(instructions, benchmark::Counter::kAvgIterations);
  state.counters["warp_instr/s"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}

void add(const std::string& name, std::string_view ptx, gpu::Application application) {
  benchmark::RegisterBenchmark(("exec/" + name).c_str(),
                               [=](benchmark::State& state) {
                                 const auto module = ptx::parse(ptx, name + ".ptx");
                                 if (!module) return state.SkipWithError(module.error().to_string().c_str());
                                 execute(state, *module, application);
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add(const std::string& name, zoo::Size size) {
  const auto entry = zoo::find(name);
  if (entry) add(name, (*entry)->ptx, (*entry)->benchmark.make(size).application);
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* name : {"fma", "vecadd"}) add(name, zoo::Size::large);
  add("sgemm_16x16_tiles", wm::bench::kTiledSgemm, wm::bench::tiled_sgemm());
  add("sgemm", zoo::Size::medium);
  for (const char* name : {"gather", "smem", "atomics"}) add(name, zoo::Size::medium);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
