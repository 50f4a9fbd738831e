// wm lab confirm: rows of older code count as current where the present code gives the same in a sample of them.
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>
#include <thread>

#include "base/counted.h"
#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/commands/lab.h"
#include "cli/commands/lab_cells.h"
#include "cli/output/output.h"
#include "cli/output/terminal.h"
#include "lab/experiment/confirm.h"
#include "lab/experiment/local_executor.h"
#include "lab/experiment/runner.h"
#include "lab/run/isolated.h"
#include "lab/store/open_rows.h"

namespace wm::cli {
namespace {

using RowCounts = std::map<std::string, std::size_t>;  // by code version

struct LabConfirmOptions {
  std::vector<std::string> figures;
  std::string protocol = "quick";
  std::string store = kDefaultStore;
  std::size_t sample = 0;
  unsigned jobs = 0;
  std::string json;
  std::string cache = lab::IsolatedCache::default_folder();
};

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))); }

// Runs the samples into a file of rows beside the store; what a killed run left there counts.
Result<std::unique_ptr<lab::RowStore>> run_samples(const LabConfirmOptions& o, const lab::Matrix& matrix,
                                                   const std::vector<lab::StaleGroup>& groups,
                                                   const std::string& path) {
  auto again = lab::open_rows(path, lab::RowStore::Mode::write);
  if (!again) return again.error();
  lab::Matrix samples{{}, matrix.gpus};
  for (const lab::StaleGroup& g : groups) samples.cells.insert(samples.cells.end(), g.sample.begin(), g.sample.end());
  lab::LocalExecutor executor(o.jobs != 0 ? o.jobs : std::max(1U, std::thread::hardware_concurrency()));
  const auto summary =
      run_cells(**again, path, executor, true, {.program = {}, .cache = o.cache, .retry = true}, samples);
  if (!summary) return summary.error();
  return again;
}

// The number of done rows in the store by code version.
Result<RowCounts> rows_by_version(const std::string& store) {
  const auto results = lab::load_results(store);
  if (!results) return results.error();
  RowCounts counts;
  for (const lab::Row& row : results->rows)
    if (row.state == lab::Row::State::done) ++counts[row.code_version];
  return counts;
}

// `others`: rows of the version that are not in the group.
std::string detail_of(const lab::GroupOutcome& outcome, std::size_t others) {
  if (!outcome.blocked_by.empty())
    return fmt::format("not confirmed: rows of {} count as rows of this version and differ", outcome.blocked_by);
  const lab::Confirmation& c = outcome.record;
  if (outcome.confirmed())
    return fmt::format("confirmed: {} of {} run again, all the same{}", c.cells, counted(c.of, "row"),
                       others == 0 ? ""
                                   : fmt::format("; {} of this code that these figures do not have in this protocol "
                                                 "count as current, too",
                                                 counted(others, "row")));
  return fmt::format("not confirmed: {} of {} run again differ", outcome.differences.size(), counted(c.cells, "row"));
}

nlohmann::ordered_json json_of(const lab::GroupOutcome& outcome, const std::string& detail) {
  const lab::Confirmation& c = outcome.record;
  nlohmann::ordered_json differences = nlohmann::ordered_json::array();
  for (const lab::Difference& d : outcome.differences)
    differences.push_back(
        {{"key", d.key}, {"command", d.command}, {"value", d.value}, {"before", d.before}, {"now", d.now}});
  return {{"name", c.from + " -> " + c.to},
          {"passed", outcome.confirmed()},
          {"detail", detail},
          {"from", c.from},
          {"to", c.to},
          {"cells", c.cells},
          {"of", c.of},
          {"date", c.date},
          {"differences", differences}};
}

// Returns the exit code.
Result<int> print(const LabConfirmOptions& o, const std::vector<lab::GroupOutcome>& outcomes, const RowCounts& rows) {
  const Output output(o.json);
  if (outcomes.empty()) output.say(fmt::format("no stale rows of these figures in {}\n", o.store));
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  bool all = true;
  for (const lab::GroupOutcome& outcome : outcomes) {
    const lab::Confirmation& c = outcome.record;
    const std::string detail = detail_of(outcome, rows.at(c.from) - c.of);
    output.say(fmt::format("{} -> {}: {}\n", c.from, c.to, detail));
    for (const lab::Difference& d : outcome.differences)
      output.say(fmt::format("  {}\n    {}: {} before, {} now\n", d.command, d.value, d.before, d.now));
    items.push_back(json_of(outcome, detail));
    all &= outcome.confirmed();
  }
  if (auto done = output.items(items); !done) return done.error();
  return all ? 0 : 1;
}

Result<int> confirm(const LabConfirmOptions& o) {
  const auto figures = find_figures(o.figures);
  if (!figures) return figures.error();
  const auto plans = plan(*figures, o.protocol);
  if (!plans) return plans.error();
  const lab::Matrix matrix = together(*plans);
  std::error_code ignored;
  if (!std::filesystem::exists(o.store, ignored))
    return Error{fmt::format("nothing to confirm: there is no store '{}'", o.store)};
  const auto store = lab::open_rows(o.store, lab::RowStore::Mode::write);
  if (!store) return store.error();
  const auto groups = lab::stale_groups(matrix, **store, o.sample);
  if (!groups) return groups.error();
  if (groups->empty()) return print(o, {}, {});
  const auto rows = rows_by_version(o.store);
  if (!rows) return rows.error();
  const std::string path = o.store + ".confirm.ndjson";
  const auto again = run_samples(o, matrix, *groups, path);
  if (!again) return again.error();
  const auto outcomes = lab::confirm(**store, *groups, **again, today());
  if (!outcomes) return outcomes.error();
  std::filesystem::remove(path, ignored);
  return print(o, *outcomes, *rows);
}

}  // namespace

void add_lab_confirm(const Command& lab) {
  auto o = std::make_shared<LabConfirmOptions>();
  const Command command =
      lab.add("confirm", "Keep rows of older code as current where a sample, run again, is the same",
              "wm lab confirm --protocol paper                # all figures\n"
              "wm lab confirm qos-isca17 --sample 20 --jobs 2");
  command.option("figure", o->figures, "PAPER, PAPER/FIGURE or FILE.yaml; none: all");
  command.option("--protocol", o->protocol, "quick or paper", {.show_default = true});
  command.option("--store", o->store, "The store, or rows in a file that ends in .ndjson",
                 {.show_default = true, .type = "FILE"});
  command.option("--sample", o->sample, "Rows of each pair of code versions that run again; 0: 5%, and at least 3");
  command.option("--jobs", o->jobs, "Cells at a time (default: one per core)", {.low = 1, .high = 100'000});
  command.option("--cache", o->cache, "Where isolated rates are kept", {.show_default = true, .type = "FOLDER"});
  command.json(o->json);
  command.run([o] { return confirm(*o); });
}

}  // namespace wm::cli
