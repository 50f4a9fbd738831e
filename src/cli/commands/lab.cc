// wm lab: the papers' figures and one's own sweeps.
#include "cli/commands/lab.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/input/data_folder.h"
#include "cli/input/participant.h"
#include "cli/input/subject.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "gpu/load_gpu.h"
#include "lab/experiment/expression.h"
#include "lab/run/splits.h"
#include "sim/block/load_app.h"

namespace wm::cli {
namespace {

std::string experiments_folder() { return data_folder() + "/experiments"; }

struct ListOptions {
  std::vector<std::string> figures;
  std::string json;
};

Result<int> list(const ListOptions& o) {
  const auto figures = find_figures(o.figures);
  if (!figures) return figures.error();
  Table table({"figure", "quick", "paper", "what"});
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const lab::Experiment& e : *figures) {
    std::vector<Cell> row{Cell(e.id, Style::bold)};
    nlohmann::ordered_json item = {{"name", e.id}, {"title", e.title}, {"claims", e.claims.size()}};
    for (const char* protocol : {"quick", "paper"}) {
      const lab::Protocol* p = e.protocol(protocol);
      if (p == nullptr) {
        row.emplace_back("");
        continue;
      }
      const auto cells = lab::count_cells(*p, lab_names());
      if (!cells) return cells.error();
      row.emplace_back(grouped(*cells));
      item[protocol] = {{"cells", *cells}, {"cycles", p->cycles}, {"about", p->about}};
    }
    row.emplace_back(e.title);
    table.add(std::move(row));
    items.push_back(std::move(item));
  }
  const Output output(o.json);
  output.say(table.fitted(terminal_width()));
  output.say("\nColumns 'quick' and 'paper' count cells: runs under each protocol. Figures share cells.\n");
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

void add_list(const Command& lab) {
  auto o = std::make_shared<ListOptions>();
  const Command list_command = lab.add("list", "Figures that can be run", "wm lab list\nwm lab list qos-isca17");
  list_command.option("figure", o->figures, "PAPER, PAPER/FIGURE or FILE.yaml; none: all");
  list_command.json(o->json);
  list_command.run([o] { return list(*o); });
}

}  // namespace

lab::Names lab_names() {
  lab::Names names;
  names.gpu = [](const std::string& name) -> Result<std::string> {
    const auto gpu = gpu::load_gpu(name, gpu_folder());
    if (!gpu) return gpu.error();
    return gpu->source;
  };
  names.kernel = [](const std::string& name) -> Result<void> {
    if (name.ends_with(".yaml")) return {};  // a user's own kernel is read when it runs
    const std::string application = name.substr(0, name.find('/'));
    const auto apps = sim::app_names(app_folder());
    if (std::find(apps.begin(), apps.end(), application) != apps.end()) return {};
    const auto found = zoo::find(application);
    if (!found) return found.error();
    return {};
  };
  // A kernel's blocks are the same at all sizes; small ones are made at once.
  names.splits = [](const std::string& name, const std::vector<std::string>& kernels,
                    bool full) -> Result<std::vector<std::string>> {
    const auto gpu = gpu::load_gpu(name, gpu_folder());
    if (!gpu) return gpu.error();
    std::vector<lab::Participant> participants;
    for (const std::string& k : kernels) {
      auto p = parse_participant(k, zoo::Size::small, PtxOrigin{});
      if (!p) return p.error();
      participants.push_back(*std::move(p));
    }
    return lab::splits(*gpu, participants, full);
  };
  names.sms = [](const std::string& name) -> Result<std::uint32_t> {
    const auto gpu = gpu::load_gpu(name, gpu_folder());
    if (!gpu) return gpu.error();
    return gpu->sm.count;
  };
  return names;
}

Result<std::vector<lab::Experiment>> find_figures(const std::vector<std::string>& asked) {
  const std::vector<std::string> known = lab::experiment_names(experiments_folder());
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    const std::size_t before = names.size();
    for (const std::string& k : known)
      if (k.starts_with(name + "/")) names.push_back(k);
    if (names.size() == before) names.push_back(name);
  }
  if (asked.empty()) names = known;
  std::vector<lab::Experiment> figures;
  for (const std::string& name : names) {
    auto e = lab::load_experiment(name, experiments_folder(), lab_names());
    if (!e) return e.error();
    figures.push_back(*std::move(e));
  }
  return figures;
}

namespace {

// Keeps the cells with one of the values that `only` has for each label. Where `is_strict`, each value must have a
// cell.
Result<void> keep_only(const std::vector<std::string>& only, const lab::Experiment& e, const lab::Protocol& p,
                       bool is_strict, std::vector<lab::Cell>& cells) {
  const auto labels = lab::labels_of(p.parameters);
  std::map<std::string, std::vector<lab::Condition>> conditions;
  for (const std::string& condition : only) {
    const std::size_t equals = condition.find('=');
    const std::string label = condition.substr(0, equals);
    if (equals == std::string::npos || std::find(labels.begin(), labels.end(), label) == labels.end())
      return Error{fmt::format("--only takes label=value, where a label is {}, not '{}'{}", fmt::join(labels, ", "),
                               condition, equals == std::string::npos ? "" : did_you_mean(label, labels))};
    conditions[label].push_back({label, lab::Condition::Sign::equal, condition.substr(equals + 1)});
  }
  for (const auto& entry : conditions) {
    const std::string& label = entry.first;
    const std::vector<lab::Condition>& any = entry.second;
    const auto holds = [](const lab::Condition& c, const lab::Cell& cell) {
      return c.holds({cell.key, cell.labels, nullptr});
    };
    for (const lab::Condition& c : any) {
      if (!is_strict || std::any_of(cells.begin(), cells.end(), [&](const auto& cell) { return holds(c, cell); }))
        continue;
      std::vector<std::string> values;
      for (const lab::Cell& cell : cells)
        if (const auto at = cell.labels.find(label); at != cell.labels.end()) values.push_back(at->second);
      return Error{fmt::format("{} has no cell with {}={}{}", e.id, label, c.value, did_you_mean(c.value, values))};
    }
    std::erase_if(cells, [&](const lab::Cell& cell) {
      return std::none_of(any.begin(), any.end(), [&](const lab::Condition& c) { return holds(c, cell); });
    });
  }
  return {};
}

}  // namespace

Result<std::vector<Planned>> plan(const std::vector<lab::Experiment>& figures, const std::string& protocol,
                                  const std::vector<std::string>& only, std::size_t first) {
  if (protocol != "quick" && protocol != "paper")
    return Error{fmt::format("no protocol '{}'; there are 'quick' and 'paper'", protocol)};
  std::vector<Planned> all;
  for (const lab::Experiment& e : figures) {
    const lab::Protocol* p = e.protocol(protocol);
    if (p == nullptr) continue;
    lab::Protocol some = *p;
    if (first != 0 && first < some.workloads.size()) some.workloads.resize(first);
    auto matrix = lab::expand(e, some, lab_names());
    if (!matrix) return matrix.error();
    if (auto kept = keep_only(only, e, *p, figures.size() == 1, matrix->cells); !kept) return kept.error();
    all.push_back({&e, p, *std::move(matrix)});
  }
  return all;
}

lab::Matrix together(const std::vector<Planned>& plans) {
  lab::Matrix all;
  std::set<std::string> seen;
  for (const Planned& p : plans) {
    all.gpus.insert(p.matrix.gpus.begin(), p.matrix.gpus.end());
    for (const lab::Cell& c : p.matrix.cells)
      if (seen.insert(c.key).second) all.cells.push_back(c);
  }
  return all;
}

Result<lab::Results> find_results(const std::string& store) {
  if (!store.empty()) return lab::load_results(store);
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder() + "/results", ignored))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (std::filesystem::exists(kDefaultStore, ignored)) files.insert(files.begin(), kDefaultStore);
  if (files.empty())
    return Error{
        fmt::format("no results: neither '{}' nor any of warpmux's own; `wm lab run` makes them", kDefaultStore)};
  lab::Results all;
  std::map<std::string, std::size_t> places;  // index of each row, by key
  for (const std::string& file : files) {
    auto results = lab::load_results(file);
    if (!results) return results.error();
    for (lab::Row& row : results->rows) {
      const auto [at, added] = places.emplace(row.key, all.rows.size());
      // The first file wins: the user's own result replaces a shipped one, unless it failed.
      if (added)
        all.rows.push_back(std::move(row));
      else if (all.rows[at->second].state == lab::Row::State::failed && row.state == lab::Row::State::done)
        all.rows[at->second] = std::move(row);
    }
    all.gpus.merge(results->gpus);
    std::move(results->confirmed.begin(), results->confirmed.end(), std::back_inserter(all.confirmed));
  }
  return all;
}

Result<std::vector<lab::Figure>> shown_figures(const std::vector<lab::Experiment>& experiments,
                                               const std::string& protocol,
                                               const std::map<std::string, const lab::Row*>& rows,
                                               const lab::Confirmations& confirmed) {
  const bool longest = protocol == "longest";
  std::vector<lab::Figure> figures;
  for (const lab::Experiment& e : experiments) {
    std::vector<lab::Figure> of_one;
    for (const std::string& name :
         longest ? std::vector<std::string>{"paper", "quick"} : std::vector<std::string>{protocol}) {
      const auto plans = plan({e}, name);
      if (!plans) return plans.error();
      for (const Planned& p : *plans)
        of_one.push_back(lab::make_figure(e, *e.protocol(name), p.matrix, rows, confirmed));
    }
    if (longest && of_one.size() > 1) {
      lab::keep_longest(of_one);
      const bool none = of_one[0].claims.empty() && of_one[1].claims.empty();
      const auto superseded = [&](const lab::Figure& f) {
        return none ? &f == &of_one[of_one[0].done > 0 ? 1 : 0] : f.claims.empty();
      };
      std::vector<lab::Figure> kept;
      for (lab::Figure& f : of_one)
        if (!superseded(f)) kept.push_back(std::move(f));
      of_one = std::move(kept);
    }
    std::move(of_one.begin(), of_one.end(), std::back_inserter(figures));
  }
  return figures;
}

void add_shown(const Command& command, Shown& shown) {
  command.option("figure", shown.figures, "PAPER, PAPER/FIGURE or FILE.yaml; none: all");
  command.option("--protocol", shown.protocol, "quick, paper, or the longest that was run", {.show_default = true});
  command.option("--store", shown.store,
                 "A store, or JSON that `wm lab export` wrote; none: wm-lab.db and warpmux's own", {.type = "FILE"});
}

void add_lab(const Command& wm) {
  const Command lab = wm.add("lab", "The papers' figures and your own sweeps",
                             "wm lab list\nwm lab run qos-isca17/fig6a\nwm lab show qos-isca17/fig6a\n"
                             "wm lab report --html report.html");
  lab.needs_command();
  add_list(lab);
  add_lab_run(lab);
  add_lab_show(lab);
  add_lab_report(lab);
  add_lab_confirm(lab);
  add_lab_exchange(lab);
}

}  // namespace wm::cli
