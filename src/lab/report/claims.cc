#include "lab/report/claims.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/counted.h"
#include "lab/report/report.h"

namespace wm::lab {
namespace {

// "paper, 300 of 900 cells", "quick".
std::string runs_text(const Figure& f) {
  std::string text = f.done == f.cells ? fmt::format("{}, {} cells", f.protocol, f.cells)
                                       : fmt::format("{}, {} of {} cells", f.protocol, f.done, f.cells);
  if (f.stale > 0) text += f.stale == f.done ? ", stale" : fmt::format(", {} stale", f.stale);
  return text;
}

// The versions of the machine's code in the rows, the most frequent first.
std::string versions_text(const Figure& f) {
  std::vector<std::pair<std::size_t, std::string>> versions;
  for (const auto& [version, cells] : f.versions) versions.emplace_back(cells, version.substr(0, 8));
  std::sort(versions.rbegin(), versions.rend());
  std::string text;
  for (const auto& [cells, version] : versions) text += (text.empty() ? "" : ", ") + version;
  return text;
}

std::string line_of(const Figure& f, const JudgedClaim& c) {
  const std::string& unit = c.claim->unit;
  const std::string verdict =
      c.claim->same_as.empty() ? name(c.verdict) : fmt::format("{} (counted as {})", name(c.verdict), c.claim->same_as);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n",
                     f.experiment->id.substr(f.experiment->paper.size() + 1), c.claim->says,
                     value_text(c.claim->paper, unit), tolerance_text(*c.claim),
                     c.measured ? value_text(*c.measured, unit) : "–", verdict, runs_text(f), versions_text(f));
}

// The paragraph on rows of older code that count as current; nothing where there are none.
std::string confirmed_text(const std::vector<Figure>& figures) {
  std::set<std::string> cells;
  std::set<Confirmation> confirmations;
  for (const Figure& f : figures) {
    cells.insert(f.confirmed.begin(), f.confirmed.end());
    confirmations.insert(f.confirmations.begin(), f.confirmations.end());
  }
  if (cells.empty()) return "";
  return fmt::format(
      "\nRows of older code count as current where newer code had the same run hashes in a sample of them "
      "(`wm lab confirm`): {} here, by {} that were run again.\n",
      counted(cells.size(), "cell"), sampled_text(confirmations));
}

}  // namespace

ClaimCounts count_claims(const std::vector<Figure>& figures) {
  ClaimCounts n;
  for (const Figure& f : figures)
    for (const JudgedClaim& c : f.claims) {
      if (!c.claim->same_as.empty()) {
        ++n.repeated;
        continue;
      }
      n.reproduced += c.verdict == Verdict::reproduced ? 1 : 0;
      n.direction += c.verdict == Verdict::direction ? 1 : 0;
      n.no += c.verdict == Verdict::no ? 1 : 0;
      n.not_run += c.verdict == Verdict::unknown ? 1 : 0;
      n.quick += c.verdict != Verdict::unknown && f.protocol == "quick" ? 1 : 0;
    }
  return n;
}

std::string claims_markdown(const std::vector<Figure>& figures, const std::string& command) {
  const ClaimCounts n = count_claims(figures);
  std::string text = fmt::format(
      "# Results\n\nWhat the papers say of their policies, beside what is measured here. Written by `{}` from the rows "
      "in "
      "`results/`; `wm lab report --html` shows the same as a page, with plots and the runs behind each number. Why "
      "something is not reproduced is in [deviations.md](deviations.md).\n\n"
      "Every claim has one verdict, from the longest protocol that was run. *reproduced*: within the tolerance, which "
      "is a "
      "part of the paper's value where it is given in percent, and otherwise a distance from it. *direction*: at least "
      "a "
      "quarter of the paper's effect. *quick*: runs that are shorter and fewer than the paper's, for the reader's "
      "machine. "
      "*stale*: the rows were made by other sources of the simulator or the policy than those of this page; the column "
      "*code* has the version of the simulator that made them.\n\n"
      "**{} claims: {} reproduced, {} in the same direction, {} not reproduced.** {} of these verdicts are from quick "
      "runs. {} more could not be judged by the cells that were run. {} repeat another claim by arithmetic and are not "
      "counted.\n",
      command, n.reproduced + n.direction + n.no, n.reproduced, n.direction, n.no, n.quick, n.not_run, n.repeated);
  text += confirmed_text(figures);
  std::vector<std::string> papers;
  for (const Figure& f : figures)
    if (std::find(papers.begin(), papers.end(), f.experiment->paper) == papers.end())
      papers.push_back(f.experiment->paper);
  for (const std::string& paper : papers) {
    std::string lines;
    std::string cite;
    for (const Figure& f : figures) {
      if (f.experiment->paper != paper) continue;
      cite = f.experiment->cite;
      for (const JudgedClaim& c : f.claims) lines += line_of(f, c);
    }
    if (lines.empty()) continue;
    text += fmt::format(
        "\n## {}\n\n{}.\n\n| figure | the paper says | paper | tolerance | measured | verdict | runs | code |\n"
        "|---|---|--:|--:|--:|---|---|---|\n{}",
        paper, cite, lines);
  }
  return text;
}

}  // namespace wm::lab
