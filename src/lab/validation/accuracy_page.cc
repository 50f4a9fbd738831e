#include "lab/validation/accuracy_page.h"

#include <array>
#include <fmt/format.h>
#include <set>

namespace wm::lab {
namespace {

struct Line {
  const char* name;
  Part part;
  Temperature temperature;
};
constexpr std::array<Line, 6> kLines{{{"fitted", Part::fitted, Temperature::cold},
                                      {"fitted", Part::fitted, Temperature::warm},
                                      {"set aside", Part::set_aside, Temperature::cold},
                                      {"set aside", Part::set_aside, Temperature::warm},
                                      {"all", Part::all, Temperature::cold},
                                      {"all", Part::all, Temperature::warm}}};

std::size_t kernels_of(const std::vector<CaseAccuracy>& cases) {
  std::set<std::string> kernels;
  for (const CaseAccuracy& c : cases) kernels.insert(c.name.substr(0, c.name.find('.')));
  return kernels.size();
}

std::string summary_row(const Line& line, const AccuracySummary& s) {
  return fmt::format("| {} | {} | {} | {:.1f}% | {:.3f} | {} | `{}` {:+.0f}% |\n", line.name,
                     line.temperature == Temperature::cold ? "cold" : "warm", s.launches, 100 * s.mean_absolute_error,
                     s.log_correlation, s.beyond_40_percent, s.largest_name, 100 * s.largest_error);
}

std::string case_row(const CaseAccuracy& c) {
  std::string row = fmt::format("| `{}` | {} | {:.0f} | {:.0f} | {} |", c.name, c.set_aside ? "set aside" : "",
                                c.cold.cycles.measured, c.cold.cycles.simulated, error_text(c.cold.cycles));
  row += c.warm ? fmt::format(" {:.0f} | {:.0f} | {} |", c.warm->cycles.measured, c.warm->cycles.simulated,
                              error_text(c.warm->cycles))
                : " – | – | – |";
  return row + fmt::format(" {} | {} | {} |\n", error_text(c.cold.instructions),
                           error_text(c.cold.l2_sectors, kNoiseSectors), error_text(c.cold.dram_read, kNoiseBytes));
}

}  // namespace

std::string error_text(const std::optional<Compared>& figure, double noise) {
  if (!figure || figure->measured <= 0 || (figure->measured <= noise && figure->simulated <= noise)) return "–";
  return fmt::format("{:+.0f}%", 100 * figure->error());
}

std::string accuracy_page(const std::vector<CaseAccuracy>& cases, const std::string& gpu, const std::string& measured,
                          const std::string& simulated) {
  std::string page = fmt::format(
      "# The cycle machine against hardware, on the validation corpus\n\n"
      "{} kernels of many kinds in CUDA C++ (`validation/corpus`, {} cases), compiled by nvcc, on an NVIDIA GPU and on "
      "the "
      "simulated `{}`.\nA third, chosen by a hash of the kernel's name, is set aside: no part of the model is fitted "
      "to it. "
      "Cycles of a launch are what NVIDIA's\nprofiler counts, with L2 cold and again. `wm validate` prints this page's "
      "tables, `wm validate --run` simulates the cases anew, and\n`wm validate --page docs/results/corpus.md` writes "
      "this "
      "page.\n\n- measured: {}\n- simulated: {}\n\n"
      "| cases | launch | number | mean absolute error | log correlation | beyond 40% | largest error |\n"
      "|---|---|---|---|---|---|---|\n",
      kernels_of(cases), cases.size(), gpu, measured, simulated);
  for (const Line& line : kLines) page += summary_row(line, summarize(cases, line.part, line.temperature));
  const AccuracySummary cold = summarize(cases, Part::all, Temperature::cold);
  page += fmt::format(
      "\nCold launches: executed instructions are within 5% for {:.0f}% of the cases and within 15% for {:.0f}%; "
      "sectors "
      "between L1 and L2 within 15%\nfor {:.0f}%, bytes read from DRAM within 15% for {:.0f}% (differences below 200 "
      "sectors and 20 KB do not count). The\n[deviations](deviations.md) name the causes of the largest errors.\n\n"
      "| case | | measured cold | simulated | error | warm | simulated | error | instructions | L2 sectors | DRAM read "
      "|\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      100 * cold.instructions_within_5_percent, 100 * cold.instructions_within_15_percent,
      100 * cold.l2_within_15_percent, 100 * cold.dram_within_15_percent);
  for (const CaseAccuracy& c : cases) page += case_row(c);
  return page;
}

}  // namespace wm::lab
