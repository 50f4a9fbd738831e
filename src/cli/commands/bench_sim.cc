// wm bench sim: speed of the cycle-level machine on the kernels that simulators are compared on.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/nearest.h"
#include "bench/sim_rows.h"
#include "cli/commands/command.h"
#include "cli/input/data_folder.h"
#include "cli/input/large_pages.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "gpu/load_gpu.h"
#include "lab/run/speed.h"

namespace wm::cli {
namespace {

struct BenchSimOptions {
  std::vector<std::string> names = bench::sim_rows();
  std::vector<std::string> gpus;
  unsigned threads = 1;
  double seconds = 2.0;
  std::string json;
};

struct Row {
  lab::Speed speed;
  std::uint64_t peak_bytes = 0;
};

Result<Row> measure_here(const gpu::GpuConfig& gpu, const std::string& name, const BenchSimOptions& options) {
  const auto kernel = bench::sim_row(name);
  if (!kernel) return kernel.error();
  const auto speed = lab::measure_speed(gpu, *kernel, options.threads, options.seconds);
  if (!speed) return speed.error();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Row{*speed, static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

// The peak memory of a process never decreases, so each row is measured in a process of its own.
Result<Row> measure(const gpu::GpuConfig& gpu, const std::string& name, const BenchSimOptions& options) {
  int ends[2];
  if (pipe(ends) != 0) return Error{"no pipe to a process of its own"};
  const pid_t child = fork();
  if (child < 0) return Error{"no process of its own"};
  if (child == 0) {
    const auto row = measure_here(gpu, name, options);
    const Row told = row ? *row : Row{};
    if (!row) fmt::print(stderr, "wm: {}\n", row.error().to_string());
    const bool written = write(ends[1], &told, sizeof told) == sizeof told;
    _exit(row && written ? 0 : 1);
  }
  close(ends[1]);
  Row row;
  const bool read_all = read(ends[0], &row, sizeof row) == sizeof row;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!read_all || status != 0) return Error{fmt::format("'{}' could not be measured on '{}'", name, gpu.name)};
  return row;
}

Result<int> bench_sim(const BenchSimOptions& options) {
  use_large_pages();
  const auto known = bench::sim_rows();
  for (const std::string& name : options.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{
          fmt::format("no benchmark '{}'{}; there are {}", name, did_you_mean(name, known), fmt::join(known, ", "))};
  const auto gpus = options.gpus.empty() ? std::vector<std::string>{"v100", "qos16"} : options.gpus;
  Table table(
      {"kernel", "GPU", "SMs", "warp instr.", "cycles", "runs", "best", "warp instr./s", "cycles/s", "peak MB"});
  auto items = nlohmann::ordered_json::array();
  Progress progress(options.names.size() * gpus.size());
  for (const std::string& gpu_name : gpus) {
    const auto gpu = gpu::load_gpu(gpu_name, gpu_folder());
    if (!gpu) return gpu.error();
    for (const std::string& name : options.names) {
      const auto row = measure(*gpu, name, options);
      if (!row) return row.error();
      progress.advance(1, name);
      const lab::Speed& s = row->speed;
      table.add({name, gpu->name, grouped(gpu->sm.count), grouped(s.warp_instructions), grouped(s.cycles),
                 grouped(s.runs), duration(s.seconds), scaled(s.warp_instructions_per_second()),
                 scaled(s.cycles_per_second()), grouped(row->peak_bytes / 1'000'000)});
      items.push_back({{"name", name},
                       {"gpu", gpu->name},
                       {"sms", gpu->sm.count},
                       {"warp_instructions", s.warp_instructions},
                       {"gpu_cycles", s.cycles},
                       {"seconds", s.seconds},
                       {"warp_instructions_per_second", s.warp_instructions_per_second()},
                       {"gpu_cycles_per_second", s.cycles_per_second()},
                       {"peak_rss_bytes", row->peak_bytes},
                       {"threads", options.threads}});
    }
  }
  const Output output(options.json);
  output.say(table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

}  // namespace

void add_bench_sim(const Command& bench) {
  auto options = std::make_shared<BenchSimOptions>();
  const Command sim = bench.add("sim", "Speed of the cycle-level machine",
                                "wm bench sim\nwm bench sim fma --gpu v100 --threads 2 --json -");
  sim.option("names", options->names, "vecadd, sgemm (256^3 in 16x16 tiles), fma, gather", {.show_default = true});
  sim.option("--gpu", options->gpus, "A GPU by name, or a YAML file; repeat it (v100 and qos16)");
  sim.option("--threads", options->threads, "Host threads", {.show_default = true, .low = 1, .high = 64});
  sim.option("--seconds", options->seconds, "Time to spend on each; the fastest run counts",
             {.show_default = true, .high = 3600});
  sim.json(options->json);
  sim.run([options] { return bench_sim(*options); });
}

}  // namespace wm::cli
