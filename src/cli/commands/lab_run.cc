// wm lab run: the cells that the store does not have, on this machine's cores or as job arrays of a Slurm cluster.
#include <filesystem>
#include <fmt/format.h>
#include <thread>

#include "base/counted.h"
#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/commands/lab.h"
#include "cli/commands/lab_cells.h"
#include "cli/input/process.h"
#include "cli/output/output.h"
#include "cli/output/terminal.h"
#include "lab/experiment/local_executor.h"
#include "lab/experiment/runner.h"
#include "lab/experiment/slurm_executor.h"
#include "lab/run/isolated.h"
#include "lab/store/open_rows.h"

namespace wm::cli {
namespace {

struct LabRunOptions {
  std::vector<std::string> figures;
  std::string protocol = "quick";
  std::string store = kDefaultStore;
  std::vector<std::string> only;
  std::size_t first = 0;
  unsigned jobs = 0;
  bool slurm = false;
  std::string partition;
  std::vector<std::string> sbatch;
  bool resume = false;
  bool retry = false;
  bool again = false;
  bool keep_old = false;
  bool dry_run = false;
  std::string json;
  std::string cache = lab::IsolatedCache::default_folder();
};

nlohmann::ordered_json json_of(const lab::RunSummary& s) {
  return {{"schema", 1},
          {"cells", s.cells},
          {"stored", s.stored},
          {"ran", s.ran},
          {"failed", s.failed},
          {"lost", s.lost},
          {"taken_in", s.imported},
          {"host_seconds", s.host_seconds},
          {"alone_seconds", s.isolated_seconds}};
}

Result<int> dry_run(const LabRunOptions& o, const lab::Matrix& matrix) {
  std::vector<lab::Cell> left = matrix.cells;
  lab::RunSummary summary;
  std::error_code ignored;
  if (std::filesystem::exists(o.store, ignored)) {
    const auto store = lab::open_rows(o.store, lab::RowStore::Mode::read);
    if (!store) return store.error();
    lab::LocalExecutor unused(1);
    auto missing =
        lab::Runner(**store, o.store, unused, {"", "", o.retry, o.again, o.keep_old}).missing(matrix, summary);
    if (!missing) return missing.error();
    left = *std::move(missing);
  }
  const Output output(o.json);
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const lab::Cell& c : left) {
    output.say(c.command() + "\n");
    items.push_back({{"name", c.key}, {"command", c.command()}});
  }
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

Result<std::string> slurm_command(const std::vector<std::string>& words) {
  const auto done = run_program(words);
  if (!done) return Error{fmt::format("{}; --slurm needs Slurm's commands on this machine", done.error().to_string())};
  if (done->code != 0) return Error{fmt::format("{} fails: {}", words[0], done->output)};
  return done->output;
}

Result<std::unique_ptr<lab::Executor>> executor_of(const LabRunOptions& o) {
  if (!o.slurm && (!o.partition.empty() || !o.sbatch.empty())) return Error{"--partition and --sbatch need --slurm"};
  if (!o.slurm) {
    const unsigned jobs = o.jobs != 0 ? o.jobs : std::max(1U, std::thread::hardware_concurrency());
    return std::unique_ptr<lab::Executor>(std::make_unique<lab::LocalExecutor>(jobs));
  }
  if (const auto version = slurm_command({"sbatch", "--version"}); !version) return version.error();
  lab::SlurmExecutor::Options options{.folder = o.store + ".cells/slurm", .sbatch = o.sbatch, .at_a_time = o.jobs};
  if (!o.partition.empty()) options.sbatch.push_back("--partition=" + o.partition);
  return std::unique_ptr<lab::Executor>(std::make_unique<lab::SlurmExecutor>(std::move(options), slurm_command));
}

std::string text_of(const lab::RunSummary& s, const std::string& store) {
  std::string text =
      fmt::format("{}: {} already in {}, {} ran in {} of processor time and {} for isolated runs, {} failed\n",
                  counted(s.cells, "cell"), s.stored, store, s.ran, duration(s.host_seconds),
                  duration(s.isolated_seconds), s.failed);
  if (s.lost > 0)
    text += fmt::format(
        "{} lost: Slurm ended them (a failed node, a time limit, scancel); the same command runs them\n", s.lost);
  return text;
}

Result<int> run(const LabRunOptions& o) {
  const auto figures = find_figures(o.figures);
  if (!figures) return figures.error();
  const auto plans = plan(*figures, o.protocol, o.only, o.first);
  if (!plans) return plans.error();
  const lab::Matrix matrix = together(*plans);
  if (o.dry_run) return dry_run(o, matrix);
  std::error_code ignored;
  if (o.resume && !std::filesystem::exists(o.store, ignored))
    return Error{fmt::format("nothing to resume: there is no store '{}'", o.store)};
  const auto executor = executor_of(o);
  if (!executor) return executor.error();
  const auto store = lab::open_rows(o.store, lab::RowStore::Mode::write);
  if (!store) return store.error();
  const auto summary =
      run_cells(**store, o.store, **executor, !o.slurm,
                {.program = {}, .cache = o.cache, .retry = o.retry, .again = o.again, .keep_old = o.keep_old}, matrix);
  if (!summary) return summary.error();
  const Output output(o.json);
  output.say(text_of(*summary, o.store));
  for (const lab::Cell& c : matrix.cells)
    if (const auto row = (*store)->find(c.key); row && *row && (*row)->state == lab::Row::State::failed)
      output.say(fmt::format("failed: {}\n  {}\n", (*row)->command, (*row)->error));
  if (!o.json.empty())
    if (auto done = output.document(json_of(*summary)); !done) return done.error();
  return summary->failed + summary->lost > 0 ? 1 : 0;
}

}  // namespace

void add_lab_run(const Command& lab) {
  auto o = std::make_shared<LabRunOptions>();
  const Command command =
      lab.add("run", "Run figures' cells into a store",
              "wm lab run qos-isca17/fig6a --protocol quick\n"
              "wm lab run --resume                       # after a kill\n"
              "wm lab run mine.yaml --only policy=Rollover --dry-run\n"
              "wm lab run qos-isca17/fig6a --store host1.ndjson  # needs no SQLite; wm lab merge takes it\n"
              "wm lab run qos-isca17 --slurm --partition batch --sbatch=--mem=4G  # a cluster, over a shared folder");
  command.option("figure", o->figures, "PAPER, PAPER/FIGURE or FILE.yaml; none: all");
  command.option("--protocol", o->protocol, "quick or paper", {.show_default = true});
  command.option("--store", o->store,
                 "The file that takes the results: a store, or lines of JSON where it ends in .ndjson",
                 {.show_default = true, .type = "FILE"});
  command.option(
      "--only", o->only,
      "Only cells with label=value, as policy=Rollover; repeat it for other labels, or for other values of one");
  command.option("--first", o->first, "Of each figure only so many workloads, from the beginning; 0: all");
  command.option("--jobs", o->jobs, "Cells at a time (default: one per core; with --slurm as many as Slurm starts)",
                 {.low = 1, .high = 100'000});
  command.flag("--slurm", o->slurm,
               "Run the cells as Slurm job arrays; the store's folder is one that all nodes share");
  command.option("--partition", o->partition, "Slurm's partition");
  command.option("--sbatch", o->sbatch, "A further option of sbatch, as --sbatch=--mem=4G; repeat it");
  command.flag("--resume", o->resume, "Go on with a run that was stopped: the store must be there");
  command.flag("--retry", o->retry, "Cells that failed, too");
  command.flag("--again", o->again, "All cells, those in the store too");
  command.flag("--keep-old", o->keep_old, "Take results of other code than this for done");
  command.flag("--dry-run", o->dry_run, "Print the commands that would run");
  command.option("--cache", o->cache, "Where isolated rates are kept", {.show_default = true, .type = "FOLDER"});
  command.json(o->json);
  command.run([o] { return run(*o); });
}

}  // namespace wm::cli
