// Functional execution: warp instructions a second, for each benchmark of the zoo that is named in docs/benchmarks.md.
#include <benchmark/benchmark.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
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

// 256^3 in 16x16 tiles.
gpu::Application tiled_sgemm() {
  constexpr std::uint32_t kSize = 256;
  Random random(1);
  std::vector<float> values(kSize * kSize);
  for (float& v : values) v = random.uniform(-1, 1);
  gpu::Application app;
  const auto a = app.add("a", values), b = app.add("b", values), c = app.add_uninitialized("c", values.size() * 4);
  app.upload(a);
  app.upload(b);
  app.launch({"sgemm_tile",
              {kSize / 16, kSize / 16, 1},
              {16, 16, 1},
              {gpu::buffer(a), gpu::buffer(b), gpu::buffer(c), gpu::scalar(kSize)},
              0});
  return app;
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* name : {"fma", "vecadd"}) add(name, zoo::Size::large);
  add("sgemm_16x16_tiles", wm::bench::kTiledSgemm, tiled_sgemm());
  add("sgemm", zoo::Size::medium);
  for (const char* name : {"gather", "smem", "atomics"}) add(name, zoo::Size::medium);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
