// The cycle-level machine: warp instructions and GPU cycles a second on 80 and on 16 SMs, with one and with two
// threads.
#include <benchmark/benchmark.h>
#include <string>

#include "bench/sim_rows.h"
#include "gpu/load_gpu.h"
#include "lab/run/speed.h"

namespace {

using namespace wm;

void simulate(benchmark::State& state, const std::string& gpu_name, const std::string& kernel) {
  const auto gpu = gpu::load_gpu(gpu_name, WM_GPU_DIR);
  if (!gpu) return state.SkipWithError(gpu.error().to_string().c_str());
  const auto row = bench::sim_row(kernel);
  if (!row) return state.SkipWithError(row.error().to_string().c_str());
  double instructions = 0;
  double cycles = 0;
  for (auto _ : state) {
    const auto speed = lab::measure_speed(*gpu, *row, static_cast<std::uint32_t>(state.range(0)), 0);
    if (!speed) return state.SkipWithError(speed.error().to_string().c_str());
    state.SetIterationTime(speed->seconds);
    instructions += static_cast<double>(speed->warp_instructions);
    cycles += static_cast<double>(speed->cycles);
  }
  state.counters["warp_instr/s"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
  state.counters["gpu_cycles/s"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string gpu : {"v100", "qos16"})
    for (const std::string& kernel : bench::sim_rows())
      benchmark::RegisterBenchmark(("sim/" + gpu + "/" + kernel).c_str(),
                                   [=](benchmark::State& state) { simulate(state, gpu, kernel); })
          ->ArgName("threads")
          ->Arg(1)
          ->Arg(2)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
