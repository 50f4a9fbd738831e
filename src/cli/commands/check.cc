#include "cli/commands/check.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <thread>

#include "base/json.h"
#include "cli/input/ptx_module.h"
#include "cli/output/terminal.h"
#include "exec/run.h"

namespace wm::cli {

double blocks_of(const gpu::Application& application) {
  std::uint64_t blocks = 0;
  for (const gpu::Step& step : application.steps) {
    if (const auto* launch = std::get_if<gpu::Launch>(&step)) blocks += launch->grid.count();
  }
  return static_cast<double>(blocks);
}

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Adds up the statistics of the launches and verifies their results.
Result<void> run_and_verify(const Subject& subject, const CheckOptions& options, Progress& progress, Checked& out) {
  auto module = load_ptx(subject.ptx, subject.ptx_file, options.fmad);
  if (!module) return module.error();
  const zoo::Case c = subject.make(subject.size.value_or(options.size));

  exec::RunOptions run;
  run.max_instructions = options.max_instructions;
  const double blocks = blocks_of(c.application);
  run.on_block = [&] { progress.advance(1.0 / blocks, subject.name); };
  const auto result = exec::run_application(*module, c.application, run, subject.ptx_file);
  if (!result) return result.error();

  exec::LaunchStatistics sum;
  for (const exec::LaunchRecord& launch : result->launches) {
    sum += launch.statistics;
    out.seconds += launch.seconds;
  }
  out.launches = result->launches.size();
  out.blocks = sum.blocks;
  out.warp_instructions = sum.warp_instructions;
  out.thread_instructions = sum.thread_instructions;
  out.verified = !c.expected.empty() || c.check || c.reference;
  if (!out.verified) return {};  // a description without expected content passes when the kernel ends well
  return zoo::verify(c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return result->buffers[id.index]; });
}

Checked check_one(const Subject& subject, const CheckOptions& options, Progress& progress) {
  Checked checked;
  checked.name = subject.kernel.empty() ? subject.name : subject.name + "/" + subject.kernel;
  checked.about = subject.about;
  checked.size = subject.own ? "own" : name(subject.size.value_or(options.size));
  const auto outcome = run_and_verify(subject, options, progress, checked);
  checked.passed = outcome.ok();
  const char* done = checked.verified ? "matches the reference" : "ended well; nothing is expected of its buffers";
  checked.detail = outcome.ok() ? done : outcome.error().to_string();
  return checked;
}

}  // namespace

std::vector<Checked> check(const std::vector<Subject>& subjects, const CheckOptions& options) {
  std::vector<Checked> checked(subjects.size());
  Progress progress(subjects.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < subjects.size(); i = next++)
      checked[i] = check_one(subjects[i], options, progress);
  };
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  const std::size_t jobs = std::min<std::size_t>(options.jobs != 0 ? options.jobs : cores, subjects.size());
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < jobs; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return checked;
}

Table table_of(const std::vector<Checked>& checked) {
  Table table({"kernel", "size", "launches", "blocks", "warp instr.", "time", "warp instr./s", "result"});
  for (const Checked& c : checked) {
    const double rate = c.seconds > 0 ? static_cast<double>(c.warp_instructions) / c.seconds : 0;
    table.add({c.name, c.size, grouped(c.launches), grouped(c.blocks), grouped(c.warp_instructions),
               duration(c.seconds), scaled(rate),
               c.passed ? Cell(c.verified ? "passed" : "ran", Style::good)
                        : Cell("FAILED: " + first_line(c.detail), Style::bad)});
  }
  return table;
}

nlohmann::ordered_json json_of(const std::vector<Checked>& checked) {
  auto items = nlohmann::ordered_json::array();
  for (const Checked& c : checked) {
    const double rate = c.seconds > 0 ? static_cast<double>(c.warp_instructions) / c.seconds : 0;
    items.push_back({{"name", c.name},
                     {"size", c.size},
                     {"passed", c.passed},
                     {"verified", c.verified},
                     {"detail", c.detail},
                     {"launches", c.launches},
                     {"blocks", c.blocks},
                     {"warp_instructions", c.warp_instructions},
                     {"thread_instructions", c.thread_instructions},
                     {"seconds", c.seconds},
                     {"warp_instructions_per_second", rate}});
  }
  return items;
}

bool all_passed(const std::vector<Checked>& checked) {
  return std::all_of(checked.begin(), checked.end(), [](const Checked& c) { return c.passed; });
}

std::string summary_of(const std::vector<Checked>& checked, double seconds) {
  const auto failed = std::count_if(checked.begin(), checked.end(), [](const Checked& c) { return !c.passed; });
  const char* noun = checked.size() == 1 ? "benchmark" : "benchmarks";
  if (failed == 0) return fmt::format("{} {} passed in {}", checked.size(), noun, duration(seconds));
  return fmt::format("{} of {} {} failed", failed, checked.size(), noun);
}

}  // namespace wm::cli
