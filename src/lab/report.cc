#include "lab/report.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/number.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRunsOfAClaim = 12;  // that a reader can jump to

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Parts in percent are shown as percent.
double shown(double value, const std::string& unit) { return unit == "%" ? 100 * value : value; }

Json row_of(const PlotRow& row, const Plot& plot) {
  Json j = Json::object();
  for (const auto& [label, value] : row.labels) {
    const auto number = parse_double(value);
    j[label] = label == plot.x && plot.kind == "line" && number ? Json(*number) : Json(value);
  }
  j["value"] = row.value;
  j["source"] = row.from_paper ? "paper" : "measured";
  return j;
}

Json claim_of(const JudgedClaim& c, const Json& runs) {
  const std::string& unit = c.claim->unit;
  return {{"id", c.claim->id},
          {"text", c.claim->says},
          {"paper", shown(c.claim->paper, unit)},
          {"measured", c.measured ? Json(shown(*c.measured, unit)) : Json(nullptr)},
          {"unit", unit},
          {"verdict", name(c.verdict)},
          {"detail",
           fmt::format("{}; reproduced within {}{}", c.claim->measured.text(), shown(c.claim->within, unit), unit)},
          {"runs", runs}};
}

Json figure_of(const Figure& f) {
  const Plot& p = f.experiment->plot;
  Json rows = Json::array();
  for (const PlotRow& r : f.rows) rows.push_back(row_of(r, p));
  Json runs = Json::array();
  for (const Record& r : f.records)
    if (runs.size() < kRunsOfAClaim) runs.push_back(r.key);
  Json claims = Json::array();
  for (const JudgedClaim& c : f.claims)
    if (c.measured) claims.push_back(claim_of(c, runs));
  const std::string series = p.series.empty() && p.y.size() > 1 && p.x != "measure" ? "measure" : p.series;
  const Protocol* protocol = f.experiment->protocol(f.protocol);
  return {{"id", f.experiment->id},
          {"paper", f.experiment->paper},
          {"title", f.experiment->title},
          {"about", fmt::format("{} {} protocol: {}.", f.experiment->about, f.protocol, protocol->about)},
          {"protocol", f.protocol},
          {"plot",
           {{"kind", p.kind},
            {"x", p.x},
            {"y", "value"},
            {"series", or_null(series)},
            {"facet", or_null(p.facet)},
            {"x_title", p.x_title.empty() ? p.x : p.x_title},
            {"y_title", p.y_title},
            {"rule", p.rule ? Json(*p.rule) : Json(nullptr)}}},
          {"rows", rows},
          {"claims", claims}};
}

Json run_of(const Record& r, const Figure& f) {
  Json filters = {{"paper", f.experiment->paper}};
  for (const char* label : {"gpu", "goal"})
    if (const auto l = r.labels.find(label); l != r.labels.end() && !l->second.empty()) filters[label] = l->second;
  Json run = {
      {"id", r.key}, {"workload", r.labels.at("workload")}, {"label", r.labels.at("policy")}, {"filters", filters}};
  run.update(*r.result);
  run.erase("host");
  run.erase("held");
  for (Json& k : run["kernels"]) k.erase("counters");
  return run;
}

}  // namespace

std::string value_text(double value, const std::string& unit) {
  if (unit == "%") return fmt::format("{:.1f}%", value * 100);
  if (std::abs(value) >= 1000) return fmt::format("{:.0f}{}", value, unit);
  return fmt::format("{:.3f}{}", value, unit);
}

Json report_document(const std::vector<Figure>& figures, const std::string& title, const std::string& about,
                     const std::string& command) {
  Json runs = Json::array();
  Json drawn = Json::array();
  std::set<std::string> seen;
  for (const Figure& f : figures) {
    drawn.push_back(figure_of(f));
    for (const Record& r : f.records)
      if (seen.insert(r.key).second) runs.push_back(run_of(r, f));
  }
  return {{"schema", 1}, {"title", title}, {"about", about}, {"command", command}, {"runs", runs}, {"figures", drawn}};
}

std::string claims_markdown(const std::vector<Figure>& figures) {
  std::string text;
  std::string paper;
  for (const Figure& f : figures) {
    if (f.experiment->paper != paper) {
      paper = f.experiment->paper;
      text += fmt::format(
          "\n## {}\n\n{}.\n\n| figure | the paper says | paper | measured | verdict |\n|---|---|--:|--:|---|\n", paper,
          f.experiment->cite);
    }
    const std::string figure = f.experiment->id.substr(paper.size() + 1);
    for (const JudgedClaim& c : f.claims)
      text +=
          fmt::format("| {} | {} | {} | {} | {} |\n", figure, c.claim->says, value_text(c.claim->paper, c.claim->unit),
                      c.measured ? value_text(*c.measured, c.claim->unit) : "–", name(c.verdict));
  }
  return text;
}

}  // namespace wm::lab
