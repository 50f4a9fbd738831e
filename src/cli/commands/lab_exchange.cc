// wm lab export and merge: results in and out of stores.
#include <filesystem>
#include <fmt/format.h>

#include "base/counted.h"
#include "base/file.h"
#include "cli/commands/command.h"
#include "cli/commands/lab.h"
#include "cli/output/output.h"
#include "lab/run/code_version.h"
#include "lab/run/run_spec.h"
#include "lab/store/open_rows.h"

namespace wm::cli {
namespace {

struct ExportOptions {
  std::string store = kDefaultStore;
  std::string json;
  std::string csv;
};

Result<int> export_results(const ExportOptions& o) {
  if (o.json.empty() && o.csv.empty()) return Error{"export to what? --json FILE or --csv FILE"};
  const auto results = lab::load_results(o.store);
  if (!results) return results.error();
  for (const auto& [path, text] : {std::pair{o.json, lab::to_json(*results)}, {o.csv, lab::to_csv(*results)}}) {
    if (path.empty()) continue;
    if (path == "-") {
      Output("").say(text);
    } else if (auto written = write_file(path, text); !written) {
      return written.error();
    }
  }
  return 0;
}

struct MergeOptions {
  std::string into;
  std::vector<std::string> from;
};

// Whether the code of this build made the row.
bool of_this_code(const lab::Row& row) {
  const auto spec = lab::run_spec_from_json(row.spec, row.key);
  return spec && row.code_version == lab::code_version(spec->policy.name, spec->machine);
}

Result<int> merge_into(const MergeOptions& o, const std::vector<lab::Results>& sources) {
  const auto into = lab::open_rows(o.into, lab::RowStore::Mode::write);
  if (!into) return into.error();
  const Output output("");
  bool disagreed = false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string& path = o.from[i];
    const auto merged = lab::merge(**into, sources[i], of_this_code);
    if (!merged) return merged.error();
    output.say(fmt::format("{}: {} taken, {} already there\n", path, counted(merged->added, "row"), merged->kept));
    if (merged->replaced > 0)
      output.say(
          fmt::format("{}: {} of this code in place of rows of other code\n", path, counted(merged->replaced, "row")));
    if (merged->confirmed > 0)
      output.say(fmt::format("{}: {} of rows of older code taken\n", path, counted(merged->confirmed, "confirmation")));
    if (merged->disagreed > 0)
      output.say(
          fmt::format("{}: {} with another run hash under the same code, or under code that counts as the same\n", path,
                      counted(merged->disagreed, "row")));
    disagreed |= merged->disagreed > 0;
  }
  return disagreed ? 1 : 0;
}

// Reads everything before the store is made or changed, and removes a store that it made and could not fill.
Result<int> merge_stores(const MergeOptions& o) {
  std::vector<lab::Results> sources;
  for (const std::string& path : o.from) {
    auto from = lab::load_results(path);
    if (!from) return from.error();
    sources.push_back(*std::move(from));
  }
  std::error_code ignored;
  const bool existed = std::filesystem::exists(o.into, ignored);
  auto merged = merge_into(o, sources);
  if (!merged && !existed) std::filesystem::remove(o.into, ignored);
  return merged;
}

}  // namespace

void add_lab_exchange(const Command& lab) {
  auto e = std::make_shared<ExportOptions>();
  const Command export_command =
      lab.add("export", "A store as JSON, which can be merged and shown, or as CSV", "wm lab export --csv results.csv");
  export_command.option("--store", e->store, "The store", {.show_default = true, .type = "FILE"});
  export_command.option("--json", e->json, "Everything, a cell a line (-: stdout)", {.type = "FILE", .output = true});
  export_command.option("--csv", e->csv, "A line a cell (-: stdout)", {.type = "FILE", .output = true});
  export_command.run([e] { return export_results(*e); });

  auto m = std::make_shared<MergeOptions>();
  const Command merge_command = lab.add("merge", "Add the results of other stores to a store",
                                        "wm lab merge wm-lab.db other.db results/quick.json");
  merge_command.option("into", m->into, "A store; made where there is none", {.required = true, .type = "FILE"});
  merge_command.option("from", m->from, "Stores, files of rows (.ndjson), or JSON that `wm lab export` wrote",
                       {.required = true});
  merge_command.run([m] { return merge_stores(*m); });
}

}  // namespace wm::cli
