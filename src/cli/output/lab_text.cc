#include "cli/output/lab_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/shell_word.h"
#include "cli/output/table.h"
#include "lab/report/report.h"

namespace wm::cli {
namespace {

Style style_of(lab::Verdict verdict) {
  if (verdict == lab::Verdict::reproduced) return Style::good;
  if (verdict == lab::Verdict::no) return Style::bad;
  return Style::plain;
}

std::vector<std::string> order_of(const std::vector<lab::PlotRow>& rows, const std::string& label) {
  std::vector<std::string> order;
  for (const lab::PlotRow& r : rows)
    if (const auto l = r.labels.find(label); l != r.labels.end())
      if (std::find(order.begin(), order.end(), l->second) == order.end()) order.push_back(l->second);
  return order;
}

std::string label_of(const lab::PlotRow& row, const std::string& label) {
  const auto l = row.labels.find(label);
  return l == row.labels.end() ? "" : l->second;
}

// "±0.012": half of a confidence interval; nothing where there is none.
std::string interval_text(double half_width, const std::string& unit) {
  return half_width > 0 ? "±" + lab::value_text(half_width, unit) : "";
}

// "; means over 5 seeds …", where the figure has several.
std::string seeds_text(const lab::Figure& f) {
  std::size_t seeds = 1;
  for (const lab::PlotRow& r : f.rows) seeds = std::max(seeds, r.seeds);
  return seeds < 2 ? "" : fmt::format("; means over {} seeds with their 95% confidence intervals", seeds);
}

// Rows are values of x, columns are series. The paper's value follows in brackets.
std::string grid(const lab::Figure& f, const std::string& facet) {
  const lab::Plot& plot = f.experiment->plot;
  const std::string across = plot.series.empty() && plot.y.size() > 1 ? "measure" : plot.series;
  std::vector<std::string> columns = across.empty() ? std::vector<std::string>{""} : order_of(f.rows, across);
  std::vector<std::string> header{plot.x};
  for (const std::string& c : columns) header.push_back(c.empty() ? "value" : c);
  Table table(header);
  std::vector<std::string> xs = order_of(f.rows, plot.x);
  std::stable_partition(xs.begin(), xs.end(), [&](const std::string& x) { return x != plot.overall; });
  for (const std::string& x : xs) {
    std::vector<Cell> line{Cell(x, Style::bold)};
    bool any = false;
    for (const std::string& column : columns) {
      std::string measured;
      std::string paper;
      for (const lab::PlotRow& r : f.rows) {
        if (label_of(r, plot.x) != x || (!across.empty() && label_of(r, across) != column)) continue;
        if (!r.from_paper && !plot.facet.empty() && label_of(r, plot.facet) != facet) continue;
        (r.from_paper ? paper : measured) = lab::value_text(r.value, "") + interval_text(r.half_width, "");
      }
      any |= !measured.empty() || !paper.empty();
      line.emplace_back(paper.empty() ? measured : measured + " (" + paper + ")");
    }
    if (any) table.add(std::move(line));
  }
  return table.fitted(terminal_width());
}

}  // namespace

std::string text_of(const lab::Figure& f, const std::string& store) {
  const lab::Experiment& e = *f.experiment;
  std::string text = styled(Style::bold, e.id) + "  " + e.title + "\n";
  text +=
      fmt::format("{} protocol, {} of {} cells{}{}{}\n", f.protocol, f.done, f.cells,
                  f.failed > 0 ? fmt::format(", {} failed", f.failed) : "",
                  f.stale > 0 ? fmt::format(", {} stale: done by other code than this", f.stale) : "",
                  f.confirmed.empty()
                      ? ""
                      : fmt::format(", {} of older code that count as current: {} run again had the same run hashes",
                                    f.confirmed.size(), lab::sampled_text(f.confirmations)));
  if (f.done == 0) {
    // Exported JSON takes no results.
    const bool named = !store.empty() && !store.ends_with(".json");
    return text + "not run: wm lab run " + shell_word(e.name) + " --protocol " + f.protocol +
           (named ? " --store " + shell_word(store) : "") + "\n";
  }
  text += fmt::format("{}{}{}\n\n", e.plot.y_title.empty() ? "value" : e.plot.y_title,
                      e.reported.empty() ? "" : "; what the paper reports in brackets", seeds_text(f));
  const auto facets = e.plot.facet.empty() ? std::vector<std::string>{""} : order_of(f.rows, e.plot.facet);
  for (const std::string& facet : facets) text += (facet.empty() ? "" : facet + "\n") + grid(f, facet) + "\n";
  if (f.claims.empty()) return text;
  Table claims({"claim", "paper", "measured", "verdict", "within", "says"});
  for (const lab::JudgedClaim& c : f.claims)
    claims.add(
        {Cell(c.claim->id, Style::bold), lab::value_text(c.claim->paper, c.claim->unit),
         c.measured ? lab::value_text(*c.measured, c.claim->unit) + interval_text(c.half_width, c.claim->unit) : "",
         Cell(lab::name(c.verdict), style_of(c.verdict)), lab::tolerance_text(*c.claim), c.claim->says});
  return text + claims.fitted(terminal_width());
}

}  // namespace wm::cli
