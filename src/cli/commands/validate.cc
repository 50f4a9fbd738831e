// wm validate: the cycle machine against measured hardware, per kernel of the validation corpus.
#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/commands/version.h"
#include "cli/input/data_folder.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "gpu/load_gpu.h"
#include "lab/validation/accuracy_page.h"
#include "lab/validation/corpus_run.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateOptions {
  std::vector<std::string> cases;
  std::string gpu = "h200";
  std::string measured, simulated, table, ptx;  // files; empty: those of the project
  bool run = false;
  unsigned jobs = 0;
  std::string save, page, json;
};

// Rows and the comment that their file begins with.
struct Source {
  lab::LaunchRows rows;
  std::string comment;
};

Result<Source> read_rows(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  auto rows = lab::parse_launch_rows(*text, path);
  if (!rows) return rows.error();
  Source source{*std::move(rows), {}};
  if (text->starts_with("# ")) source.comment = text->substr(2, text->find('\n') - 2);
  return source;
}

bool is_wanted(const std::string& name, const std::vector<std::string>& asked) {
  return asked.empty() ||
         std::any_of(asked.begin(), asked.end(), [&](const std::string& a) { return name.starts_with(a); });
}

// Every name that was asked for must select something.
Result<void> check_names(const std::vector<std::string>& asked, const std::vector<std::string>& names) {
  for (const std::string& a : asked) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& n) { return n.starts_with(a); })) continue;
    std::vector<std::string> near = names;
    for (const std::string& n : names) near.push_back(n.substr(0, n.find('.')));  // the kernel without the size
    return Error{fmt::format("no case begins with '{}'{}; wm validate lists them", a, did_you_mean(a, near))};
  }
  return {};
}

Result<Source> simulate_rows(const ValidateOptions& o, const std::string& folder) {
  const auto gpu = gpu::load_gpu(o.gpu, gpu_folder());
  if (!gpu) return gpu.error();
  const std::string table = o.table.empty() ? folder + "/corpus/kernels.txt" : o.table;
  const auto text = read_file(table);
  if (!text) return text.error();
  auto cases = gpu::parse_cases(*text, table);
  if (!cases) return cases.error();
  std::vector<std::string> names;
  for (const gpu::LaunchCase& c : *cases) names.push_back(c.name);
  if (auto known = check_names(o.cases, names); !known) return known.error();
  std::erase_if(*cases, [&](const gpu::LaunchCase& c) { return !is_wanted(c.name, o.cases); });
  Progress bar(cases->size());
  const lab::CorpusRun run{
      .gpu = *gpu,
      .ptx_folder = o.ptx.empty() ? folder + "/corpus/ptx" : o.ptx,
      .jobs = o.jobs != 0 ? o.jobs : std::max(1U, std::thread::hardware_concurrency()),
      .progress = [&](const std::string& name, std::size_t, std::size_t) { bar.advance(1, name); }};
  auto rows = lab::run_corpus(*cases, run);
  if (!rows) return rows.error();
  const std::string comment = fmt::format("{:%Y-%m-%d}; simulated GPU {}; {}; command: wm validate --run --gpu {}",
                                          fmt::gmtime(std::time(nullptr)), o.gpu, version(), o.gpu);
  if (!o.save.empty()) {
    if (auto written = write_file(o.save, lab::launch_rows_text(*rows, comment)); !written) return written.error();
  }
  return Source{*std::move(rows), comment};
}

Json json_of(const lab::LaunchAccuracy& a) {
  Json json = {{"measured_cycles", a.cycles.measured}, {"simulated_cycles", a.cycles.simulated}};
  const auto add = [&](const char* name, const std::optional<lab::Compared>& figure) {
    if (figure) json[name] = {{"measured", figure->measured}, {"simulated", figure->simulated}};
  };
  add("instructions", a.instructions);
  add("l2_sectors", a.l2_sectors);
  add("dram_read_bytes", a.dram_read);
  return json;
}

Json json_of(const lab::CaseAccuracy& c) {
  Json json = {{"name", c.name}, {"set_aside", c.set_aside}, {"cold", json_of(c.cold)}};
  if (c.warm) json["warm"] = json_of(*c.warm);
  return json;
}

struct SummaryLine {
  const char* cases;
  const char* launch;
  lab::AccuracySummary summary;
};

std::vector<SummaryLine> summaries(const std::vector<lab::CaseAccuracy>& cases) {
  std::vector<SummaryLine> lines;
  for (const auto& [name, part] :
       {std::pair{"fitted", lab::Part::fitted}, {"set aside", lab::Part::set_aside}, {"all", lab::Part::all}}) {
    for (const auto& [launch, temperature] :
         {std::pair{"cold", lab::Temperature::cold}, {"warm", lab::Temperature::warm}}) {
      const lab::AccuracySummary summary = summarize(cases, part, temperature);
      if (summary.launches != 0) lines.push_back({name, launch, summary});
    }
  }
  return lines;
}

Json json_of(const SummaryLine& line) {
  const lab::AccuracySummary& s = line.summary;
  return {{"cases", line.cases},
          {"launch", line.launch},
          {"launches", s.launches},
          {"mean_absolute_error", s.mean_absolute_error},
          {"log_correlation", s.log_correlation},
          {"beyond_40_percent", s.beyond_40_percent},
          {"instructions_within_5_percent", s.instructions_within_5_percent},
          {"l2_within_15_percent", s.l2_within_15_percent},
          {"dram_within_15_percent", s.dram_within_15_percent}};
}

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string cases_text(const std::vector<lab::CaseAccuracy>& cases) {
  Table table({"case", "", "cold: measured", "simulated", "error", "warm: measured", "simulated", "error",
               "instructions", "L2 sectors", "DRAM read"});
  for (const lab::CaseAccuracy& c : cases) {
    const auto cycles = [](double value) { return fmt::format("{:.0f}", value); };
    std::vector<Cell> row{Cell(c.name, Style::bold), c.set_aside ? "set aside" : "", cycles(c.cold.cycles.measured),
                          cycles(c.cold.cycles.simulated), lab::error_text(c.cold.cycles)};
    row.emplace_back(c.warm ? cycles(c.warm->cycles.measured) : "");
    row.emplace_back(c.warm ? cycles(c.warm->cycles.simulated) : "");
    row.emplace_back(c.warm ? lab::error_text(c.warm->cycles) : "");
    row.emplace_back(lab::error_text(c.cold.instructions));
    row.emplace_back(lab::error_text(c.cold.l2_sectors, lab::kNoiseSectors));
    row.emplace_back(lab::error_text(c.cold.dram_read, lab::kNoiseBytes));
    table.add(std::move(row));
  }
  return table.to_string();
}

std::string summary_text(const std::vector<SummaryLine>& lines) {
  Table table({"cases", "launch", "number", "mean absolute error", "log correlation", "beyond 40%",
               "instructions within 5%", "L2 within 15%", "DRAM within 15%"});
  for (const SummaryLine& line : lines) {
    const lab::AccuracySummary& s = line.summary;
    table.add({Cell(line.cases, Style::bold), line.launch, std::to_string(s.launches),
               fmt::format("{:.1f}%", 100 * s.mean_absolute_error), fmt::format("{:.3f}", s.log_correlation),
               std::to_string(s.beyond_40_percent), percent(s.instructions_within_5_percent),
               percent(s.l2_within_15_percent), percent(s.dram_within_15_percent)});
  }
  return table.to_string();
}

Result<int> validate(const ValidateOptions& o) {
  const std::string folder = data_folder() + "/validation";
  if (!o.run && (!o.save.empty() || !o.table.empty() || !o.ptx.empty() || o.gpu != "h200"))
    return Error{"--gpu, --table, --ptx and --save apply to cases that are simulated: add --run"};
  const auto measured = read_rows(o.measured.empty() ? folder + "/h200/corpus.csv" : o.measured);
  if (!measured) return measured.error();
  const auto simulated = o.run ? simulate_rows(o, folder)
                               : read_rows(o.simulated.empty() ? folder + "/h200/corpus-simulated.csv" : o.simulated);
  if (!simulated) return simulated.error();
  std::vector<lab::CaseAccuracy> cases = lab::compare(measured->rows, simulated->rows);
  std::vector<std::string> names;
  for (const lab::CaseAccuracy& c : cases) names.push_back(c.name);
  if (auto known = check_names(o.cases, names); !known) return known.error();
  std::erase_if(cases, [&](const lab::CaseAccuracy& c) { return !is_wanted(c.name, o.cases); });
  if (cases.empty()) return Error{"the measured and the simulated rows have no case in common"};
  const std::vector<SummaryLine> lines = summaries(cases);
  const Output output(o.json);
  output.say(cases_text(cases));
  output.say("\n" + summary_text(lines));
  output.say(fmt::format("\nmeasured: {}\nsimulated: {}\n", measured->comment, simulated->comment));
  if (!o.page.empty()) {
    const std::string page = lab::accuracy_page(cases, o.gpu, measured->comment, simulated->comment);
    if (auto written = write_file(o.page, page); !written) return written.error();
  }
  Json document = {{"schema", 1}, {"summary", Json::array()}, {"items", Json::array()}};
  for (const SummaryLine& line : lines) document["summary"].push_back(json_of(line));
  for (const lab::CaseAccuracy& c : cases) document["items"].push_back(json_of(c));
  if (auto done = output.document(document); !done) return done.error();
  return 0;
}

}  // namespace

void add_validate(const Command& wm) {
  auto o = std::make_shared<ValidateOptions>();
  const Command command = wm.add("validate", "Simulated against measured hardware, per kernel",
                                 "wm validate\nwm validate gemm --run\nwm validate --run --save simulated.csv");
  command.option("case", o->cases, "Cases whose names begin so; none: all");
  command.flag("--run", o->run, "Simulate the cases now instead of reading committed results");
  command.option("--gpu", o->gpu, "With --run: the simulated GPU, a name or FILE.yaml", {.show_default = true});
  command.option("--jobs", o->jobs, "With --run: cases at a time (default: one per core)", {.low = 1, .high = 1024});
  command.option("--measured", o->measured, "Measured launches (default: an H200's)", {.type = "FILE.csv"});
  command.option("--simulated", o->simulated, "Simulated launches (default: the committed ones)", {.type = "FILE.csv"});
  command.option("--table", o->table, "With --run: the table of cases (default: the corpus)", {.type = "FILE"});
  command.option("--ptx", o->ptx, "With --run: the folder with the PTX that the table names", {.type = "FOLDER"});
  command.option("--save", o->save, "With --run: write the simulated launches", {.type = "FILE.csv", .output = true});
  command.option("--page", o->page, "Write the comparison as a Markdown page", {.type = "FILE.md", .output = true});
  command.json(o->json);
  command.run([o] { return validate(*o); });
}

}  // namespace wm::cli
