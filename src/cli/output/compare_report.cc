#include "cli/output/compare_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/json.h"
#include "cli/output/sim_report.h"
#include "cli/output/table.h"
#include "cli/output/verification.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

// For more kernels than this only the metrics are shown.
constexpr std::size_t kKernelColumns = 4;

// A column of numbers in which the best is highlighted.
struct Column {
  std::string title;
  double (*value)(const lab::ComparedRun&);
  bool larger_is_better;
  const char* format;
};

double joules_as_milli(const lab::ComparedRun& r) { return r.result.joules * 1e3; }

const std::vector<Column>& columns() {
  static const std::vector<Column> kAll{
      {"worst", [](const lab::ComparedRun& r) { return lab::metrics_of(r.result).worst_ntt; }, false, "{:.2f}"},
      {"starved", [](const lab::ComparedRun& r) { return 100 * lab::metrics_of(r.result).starved; }, false, "{:.0f}%"},
      {"STP", [](const lab::ComparedRun& r) { return lab::metrics_of(r.result).stp; }, true, "{:.3f}"},
      {"ANTT", [](const lab::ComparedRun& r) { return lab::metrics_of(r.result).antt; }, false, "{:.2f}"},
      {"fairness", [](const lab::ComparedRun& r) { return lab::metrics_of(r.result).fairness; }, true, "{:.2f}"},
      {"IPC", [](const lab::ComparedRun& r) { return lab::metrics_of(r.result).ipc; }, true, "{:.0f}"},
      {"mJ", joules_as_milli, false, "{:.1f}"},
      {"Minstr/J", [](const lab::ComparedRun& r) { return r.result.instructions_per_joule * 1e-6; }, true, "{:.0f}"},
  };
  return kAll;
}

double best_of(const lab::Comparison& all, const Column& c) {
  double best = c.value(all.runs.front());
  for (const lab::ComparedRun& r : all.runs)
    best = c.larger_is_better ? std::max(best, c.value(r)) : std::min(best, c.value(r));
  return best;
}

std::string number(const Column& c, double value) {
  return std::isinf(value) ? "∞" : fmt::format(fmt::runtime(c.format), value);
}

Cell goals(const lab::Metrics& m) {
  const bool all = m.reached == m.goals;
  return {fmt::format("{} {} of {}", all ? "✓" : "✗", m.reached, m.goals), all ? Style::good : Style::bad};
}

}  // namespace

std::string text_of(const lab::Comparison& all) {
  std::string text;
  if (!all.runs.empty()) {
    const std::vector<lab::KernelResult>& kernels = all.runs[0].result.kernels;
    const bool bars = kernels.size() <= kKernelColumns;
    const bool with_goals = lab::metrics_of(all.runs[0].result).goals != 0;
    double longest = 1;
    for (const lab::ComparedRun& r : all.runs)
      for (const lab::KernelResult& k : r.result.kernels) longest = std::max(longest, k.normalized());
    std::vector<std::string> header{"policy"};
    if (bars)
      for (const lab::KernelResult& k : kernels) header.push_back(k.name);
    if (with_goals) header.emplace_back("goals");
    for (const Column& c : columns()) header.push_back(c.title);
    Table table(header);
    for (const lab::ComparedRun& r : all.runs) {
      std::vector<Cell> row{Cell(r.result.policy.substr(0, r.result.policy.find(':')), Style::bold)};
      if (bars)
        for (std::size_t k = 0; k < kernels.size(); ++k) {
          const double part = r.result.kernels[k].normalized();
          row.emplace_back(fmt::format("{} {:.2f}", bar(part / longest, 10), part), style_of_kernel(k));
        }
      if (with_goals) row.push_back(goals(lab::metrics_of(r.result)));
      for (const Column& c : columns()) {
        const std::string text_here = number(c, c.value(r));
        row.emplace_back(text_here, text_here == number(c, best_of(all, c)) ? Style::good : Style::plain);
      }
      table.add(std::move(row));
    }
    text += styled(Style::dim, fmt::format("In this order: {}least starvation, smallest worst slowdown.",
                                           with_goals ? "most goals reached, " : "")) +
            "\n" + table.to_string();
    text +=
        styled(Style::dim,
               "Bars: the rate in the co-run over the isolated rate. worst: the largest slowdown of a kernel; ANTT: "
               "the mean.\nstarved: the part of the run in which a kernel had less than 5% of its isolated rate.") +
        "\n" + verification_note(all);
    for (const lab::ComparedRun& r : all.runs) {
      const std::string note = note_of_spans(r.result);
      text += note;
      if (!note.empty()) break;
    }
  }
  for (const lab::Unfit& u : all.unfit) text += fmt::format("not run: {}: {}\n", u.policy, u.why);
  return text;
}

Json json_of(const lab::Comparison& all) {
  Json items = Json::array();
  for (const lab::ComparedRun& r : all.runs) {
    Json item = {{"name", r.result.policy.substr(0, r.result.policy.find(':'))}};
    item.update(json_of(r.result));
    items.push_back(std::move(item));
  }
  Json unfit = Json::array();
  for (const lab::Unfit& u : all.unfit) unfit.push_back({{"name", u.policy}, {"detail", u.why}});
  return {{"schema", 1}, {"items", items}, {"unfit", unfit}};
}

}  // namespace wm::cli
