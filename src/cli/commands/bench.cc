// wm bench: the figures of docs/results/benchmarks.md, measured now.
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/input/subject.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "exec/run.h"
#include "ptx/parse.h"

namespace wm::cli {
namespace {

struct BenchOptions {
  std::vector<std::string> names{"fma", "sgemm", "vecadd"};
  std::string size = "medium";
  double seconds = 1.0;
  std::string json;
};

struct Measured {
  std::uint64_t warp_instructions = 0;
  double seconds = 0;  // time of the fastest run
  int runs = 0;
};

// Repeats one application until its launches took `seconds`. The fastest run is the least disturbed one.
Result<Measured> measure(const Subject& subject, zoo::Size size, double seconds) {
  const auto module = ptx::parse(subject.ptx, subject.ptx_file);
  if (!module) return module.error();
  const zoo::Case c = subject.make(size);
  Measured best;
  double spent = 0;
  do {
    const auto result = exec::run_application(*module, c.application, {}, subject.ptx_file);
    if (!result) return result.error();
    exec::LaunchStatistics sum;
    double took = 0;
    for (const exec::LaunchRecord& launch : result->launches) {
      sum += launch.statistics;
      took += launch.seconds;
    }
    best.warp_instructions = sum.warp_instructions;
    best.seconds = best.runs == 0 ? took : std::min(best.seconds, took);
    ++best.runs;
    spent += took;
  } while (spent < seconds);
  return best;
}

Result<int> bench_exec(const BenchOptions& options) {
  const auto size = parse_size(options.size);
  if (!size) return size.error();
  const auto subjects = find_subjects(options.names, PtxOrigin());
  if (!subjects) return subjects.error();
  Table table({"kernel", "warp instr.", "runs", "best", "warp instr./s"});
  auto items = nlohmann::ordered_json::array();
  Progress progress(subjects->size());
  for (const Subject& subject : *subjects) {
    const auto measured = measure(subject, *size, options.seconds);
    if (!measured) return measured.error();
    progress.advance(1, subject.name);
    const double rate = static_cast<double>(measured->warp_instructions) / measured->seconds;
    table.add({subject.name, grouped(measured->warp_instructions), grouped(static_cast<std::uint64_t>(measured->runs)),
               duration(measured->seconds), scaled(rate)});
    items.push_back({{"name", subject.name},
                     {"size", options.size},
                     {"warp_instructions", measured->warp_instructions},
                     {"runs", measured->runs},
                     {"seconds", measured->seconds},
                     {"warp_instructions_per_second", rate}});
  }
  const Output output(options.json);
  output.say(table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

}  // namespace

void add_bench(const Command& wm) {
  const Command bench = wm.add("bench", "The figures of docs/results/benchmarks.md, measured now",
                               "wm bench exec\nwm bench sim\nwm bench policies");
  bench.needs_command();
  auto options = std::make_shared<BenchOptions>();
  const Command exec =
      bench.add("exec", "Speed of functional execution, one core", "wm bench exec fma --seconds 5 --json -");
  exec.option("names", options->names, "Benchmarks", {.show_default = true});
  exec.option("--size", options->size, "small, medium or large", {.show_default = true});
  exec.option("--seconds", options->seconds, "Time to spend on each", {.show_default = true, .high = 3600});
  exec.json(options->json);
  exec.run([options] { return bench_exec(*options); });
  add_bench_sim(bench);
  add_bench_policies(bench);
#ifdef WM_RUNTIME
  add_bench_share(bench);
  add_bench_calls(bench);
#endif
}

}  // namespace wm::cli
