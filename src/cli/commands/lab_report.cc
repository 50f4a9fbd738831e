// wm lab report: figures as one HTML file that needs no network, and their claims as Markdown.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "base/counted.h"
#include "base/file.h"
#include "base/json.h"
#include "base/shell_word.h"
#include "cli/commands/command.h"
#include "cli/commands/lab.h"
#include "cli/input/process.h"
#include "cli/output/output.h"
#include "cli/output/terminal.h"
#include "lab/report/claims.h"
#include "lab/report/page.h"
#include "lab/report/report.h"

namespace wm::cli {
namespace {

struct LabReportOptions : Shown {
  std::string html = "wm-lab.html";
  std::string markdown;
  unsigned timelines = 0;
};

// Repeats runs of the document and adds their timelines: for each paper, the first runs of the first workload of its
// first figure, at most `max_timelines`.
Result<void> add_timelines(nlohmann::ordered_json& document, const std::vector<lab::Figure>& figures,
                           const std::map<std::string, const lab::Row*>& rows, unsigned max_timelines) {
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  const auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  std::map<std::string, unsigned> made;  // by paper
  Progress bar(std::max(1U, max_timelines));
  for (const lab::Figure& f : figures)
    for (const lab::Record& r : f.records) {
      if (made[f.experiment->paper] >= max_timelines ||
          r.labels.at("workload") != f.records.front().labels.at("workload"))
        continue;
      if (auto written = write_file(folder->file("spec.json"), rows.at(r.key)->spec); !written) return written.error();
      const auto ran = run_program(
          {program, "sim", "--spec", folder->file("spec.json"), "--timeline", "--json", folder->file("run.json")});
      if (!ran) return ran.error();
      if (ran->code != 0) return Error{fmt::format("{} said: {}", rows.at(r.key)->command, ran->output)};
      const auto text = read_file(folder->file("run.json"));
      if (!text) return text.error();
      const auto run = nlohmann::ordered_json::parse(*text, nullptr, false);
      for (auto& known : document["runs"])
        if (known["id"] == r.key && run.contains("timeline")) known["timeline"] = run["timeline"];
      ++made[f.experiment->paper];
      bar.advance(1.0 / 3, f.experiment->id);
    }
  return {};
}

// The command that writes the same page or the same tables.
std::string command_of(const LabReportOptions& o) {
  std::string command = "wm lab report";
  for (const std::string& f : o.figures) command += " " + shell_word(f);
  command += " --protocol " + shell_word(o.protocol);
  if (!o.store.empty()) command += " --store " + shell_word(o.store);
  if (o.timelines > 0) command += fmt::format(" --timelines {}", o.timelines);
  if (o.html != LabReportOptions{}.html) command += " --html " + shell_word(o.html);
  if (!o.markdown.empty()) command += " --markdown " + shell_word(o.markdown);
  return command;
}

Result<int> report(const LabReportOptions& o) {
  const auto experiments = find_figures(o.figures);
  if (!experiments) return experiments.error();
  const auto results = find_results(o.store);
  if (!results) return results.error();
  const auto rows = lab::index(*results);
  auto made = shown_figures(*experiments, o.protocol, rows, lab::Confirmations(results->confirmed));
  if (!made) return made.error();
  std::vector<lab::Figure> figures = *std::move(made);
  std::erase_if(figures, [](const lab::Figure& f) { return f.done == 0; });
  if (figures.empty()) return Error{fmt::format("none of these figures has results, protocol: {}", o.protocol)};
  const Output output("");
  if (!o.markdown.empty()) {
    if (auto written = write_file(o.markdown, lab::claims_markdown(figures, command_of(o))); !written)
      return written.error();
    output.say(fmt::format("{} written\n", o.markdown));
  }
  if (o.html.empty()) return 0;
  const bool has_claims =
      std::any_of(figures.begin(), figures.end(), [](const lab::Figure& f) { return !f.claims.empty(); });
  auto document = lab::report_document(
      figures, has_claims ? "The papers' figures, measured" : "Figures, measured",
      has_claims ? "What was measured stands beside what the papers report; each claim has a verdict." : "",
      command_of(o));
  if (o.timelines > 0)
    if (auto added = add_timelines(document, figures, rows, o.timelines); !added) return added.error();
  if (auto written = lab::write_page(o.html, document); !written) return written.error();
  output.say(fmt::format("{} written: {}, {}\n", o.html, counted(figures.size(), "figure"),
                         counted(document["runs"].size(), "run")));
  return 0;
}

}  // namespace

void add_lab_report(const Command& lab) {
  auto o = std::make_shared<LabReportOptions>();
  const Command command = lab.add("report", "Figures as a page: plots, claims, a matrix of policies and workloads",
                                  "wm lab report --html report.html\nwm lab report qos-isca17 --timelines 3");
  add_shown(command, *o);
  command.option("--html", o->html, "The page; \"\": none", {.show_default = true, .type = "FILE", .output = true});
  command.option("--markdown", o->markdown, "The claims as tables", {.type = "FILE", .output = true});
  command.option("--timelines", o->timelines, "Runs of each paper to make again and show in time",
                 {.show_default = true, .low = 0, .high = 100});
  command.run([o] { return report(*o); });
}

}  // namespace wm::cli
