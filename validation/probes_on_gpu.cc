// Every probe on a real GPU: latencies, rates and bandwidths as CSV.
//
//   probes_on_gpu OUT.csv [PREFIX]     the median of three runs of each probe whose name begins so
//
// Whole launches are timed by events and counted in SM cycles; the clock's rate is measured first and is a row as well.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>

#include "base/file.h"
#include "cuda_device.h"
#include "probes/probe.h"

namespace wm::validation {
namespace {

constexpr std::uint32_t kSms = 132;

std::uint64_t clock_of(const Probe& p, const GpuRun& run, std::size_t launch) {
  std::uint64_t value = 0;
  std::memcpy(&value, run.buffers[p.clocks.index].data() + 8 * launch, 8);
  return value;
}

// Cycles a microsecond: a chain that takes milliseconds, by both clocks.
Result<double> megahertz(CudaDevice& gpu) {
  std::vector<Probe> all;
  add_instruction_probes(all);
  const auto* launch = std::get_if<gpu::Launch>(&all.front().application.steps.back());
  Probe chain =
      make_probe("clock", "MHz", all.front().ptx, 1, launch->block.x, std::vector<std::uint64_t>(65536), 40000);
  const auto run = gpu.run(chain.ptx, chain.application, {.poison = {}, .evict = false, .download = true});
  if (!run) return run.error();
  return static_cast<double>(clock_of(chain, *run, 2) - clock_of(chain, *run, 1)) /
         (run->launches[2].microseconds - run->launches[1].microseconds);
}

Result<double> measure(CudaDevice& gpu, const Probe& p, double mhz) {
  std::vector<double> values;
  for (int i = 0; i < 3; ++i) {
    const auto run = gpu.run(p.ptx, p.application, {.poison = {}, .evict = p.cold, .download = !p.times_launch});
    if (!run) return run.error();
    std::vector<double> cycles;
    for (std::size_t l = 0; l < 3; ++l)
      cycles.push_back(p.times_launch ? run->launches[l].microseconds * mhz
                                      : static_cast<double>(clock_of(p, *run, l)));
    values.push_back(value_of(p, cycles));
  }
  std::sort(values.begin(), values.end());
  return values[1];
}

int main_of(const std::string& out, const std::string& prefix) {
  auto gpu = CudaDevice::open();
  if (!gpu) {
    std::fprintf(stderr, "probes_on_gpu: %s\n", gpu.error().to_string().c_str());
    return 2;
  }
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  const auto mhz = megahertz(*gpu);
  if (!mhz) {
    std::fprintf(stderr, "clock: %s\n", mhz.error().to_string().c_str());
    return 1;
  }
  std::string text = fmt::format("# {}; {}; {}; command: probes_on_gpu\nprobe,unit,value\nclock,MHz,{:.1f}\n", date,
                                 gpu->name(), gpu->driver(), *mhz);
  bool failed = false;
  for (const Probe& p : probes(kSms)) {
    if (!p.name.starts_with(prefix)) continue;
    const auto value = measure(*gpu, p, *mhz);
    if (!value) std::fprintf(stderr, "%s: %s\n", p.name.c_str(), value.error().to_string().c_str());
    failed |= !value;
    if (!value) continue;
    text += fmt::format("{},{},{:.4g}\n", p.name, p.unit, *value);
    // After every probe, so that a run that is stopped leaves its results.
    if (auto r = write_file(out, text); !r) std::fprintf(stderr, "%s\n", r.error().to_string().c_str());
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: probes_on_gpu OUT.csv [PREFIX]\n");
    return 2;
  }
  return wm::validation::main_of(argv[1], argc > 2 ? argv[2] : "");
}
