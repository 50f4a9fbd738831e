#include "lab/report/report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/number.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

// Labels that the page shows as workload and policy, or that follow from the workload.
const std::set<std::string> kNotFilters{"workload", "policy", "group", "kernel", "beside"};

constexpr std::size_t kRunsOfAClaim = 6;  // the number of links to runs per claim

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Fractions with the unit % are shown as percent.
double shown(double value, const std::string& unit) { return unit == "%" ? 100 * value : value; }

Json row_of(const PlotRow& row, const Plot& plot) {
  Json j = Json::object();
  for (const auto& [label, value] : row.labels) {
    const auto number = parse_double(value);
    j[label] = label == plot.x && plot.kind == "line" && number ? Json(*number) : Json(value);
  }
  j["value"] = row.value;
  add_interval(row, j);
  j["source"] = row.from_paper ? "paper" : "measured";
  return j;
}

// A sample of the runs that a claim is computed from: those of the policies it names, or of all.
Json runs_behind(const JudgedClaim& c, const Records& records) {
  const auto named = c.claim->measured.mentioned("policy");
  std::vector<std::string> keys;
  for (const Record& r : records)
    if (named.empty() || std::find(named.begin(), named.end(), r.labels.at("policy")) != named.end())
      keys.push_back(r.key);
  Json runs = Json::array();
  const std::size_t some = std::min(kRunsOfAClaim, keys.size());
  for (std::size_t i = 0; i < some; ++i) runs.push_back(keys[(2 * i + 1) * keys.size() / (2 * some)]);
  return runs;
}

Json claim_of(const JudgedClaim& c, const Json& runs) {
  const std::string& unit = c.claim->unit;
  return {{"id", c.claim->id},
          {"text", c.claim->says},
          {"paper", shown(c.claim->paper, unit)},
          {"measured", c.measured ? Json(shown(*c.measured, unit)) : Json(nullptr)},
          {"unit", unit},
          {"half_width", c.half_width > 0 ? Json(shown(c.half_width, unit)) : Json(nullptr)},
          {"verdict", name(c.verdict)},
          {"detail", fmt::format("{}; tolerance: {}", c.claim->measured.text(), tolerance_text(*c.claim))},
          {"runs", runs}};
}

Json figure_of(const Figure& f) {
  const Plot& p = f.experiment->plot;
  Json rows = Json::array();
  for (const PlotRow& r : f.rows) rows.push_back(row_of(r, p));
  Json claims = Json::array();
  for (const JudgedClaim& c : f.claims)
    if (c.measured) claims.push_back(claim_of(c, runs_behind(c, f.records)));
  const std::string series = p.series.empty() && p.y.size() > 1 && p.x != "measure" ? "measure" : p.series;
  const Protocol* protocol = f.experiment->protocol(f.protocol);
  return {{"id", f.experiment->id},
          {"paper", f.experiment->paper},
          {"title", f.experiment->title},
          {"about", fmt::format("{} Protocol {}: {}.", f.experiment->about, f.protocol, protocol->about)},
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
  Json filters = {{"paper", f.experiment->paper}, {"protocol", f.protocol}};
  // Every label that can distinguish two runs of a policy and a workload: GPU, goal, limits and swept parameters.
  for (const auto& [label, value] : r.labels)
    if (!value.empty() && !kNotFilters.contains(label)) filters[label] = value;
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
  std::set<std::string> identities;  // workload, label and filters
  for (const Figure& f : figures) {
    drawn.push_back(figure_of(f));
    for (const Record& r : f.records) {
      if (!seen.insert(r.key).second) continue;
      Json run = run_of(r, f);
      // Figures may differ in settings that have no label, such as the number of cycles.
      const std::string identity = Json{run["workload"], run["label"], run["filters"]}.dump();
      if (!identities.insert(identity).second) run["filters"]["figure"] = f.experiment->id;
      runs.push_back(std::move(run));
    }
  }
  return {{"schema", 1}, {"title", title}, {"about", about}, {"command", command}, {"runs", runs}, {"figures", drawn}};
}

}  // namespace wm::lab
