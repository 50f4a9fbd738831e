#include "lab/report/figure.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/number.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

// The values of a label among the records; numbers are sorted, words keep their order.
std::vector<std::string> values_of(const std::string& label, const Records& records) {
  std::vector<std::string> values;
  for (const Record& r : records)
    if (const auto l = r.labels.find(label); l != r.labels.end())
      if (std::find(values.begin(), values.end(), l->second) == values.end()) values.push_back(l->second);
  const bool numbers =
      std::all_of(values.begin(), values.end(), [](const auto& v) { return parse_double(v).has_value(); });
  if (numbers)
    std::sort(values.begin(), values.end(),
              [](const auto& a, const auto& b) { return *parse_double(a) < *parse_double(b); });
  return values;
}

// One row for every combination of the axes' values that has records.
class Rows {
 public:
  Rows(const Plot& plot, Figure& figure) : plot_(plot), figure_(figure) {}

  void make() { over({plot_.facet, plot_.series, plot_.x}, 0, {}, {}); }

 private:
  void over(const std::vector<std::string>& axes, std::size_t at, std::vector<Condition> given,
            std::map<std::string, std::string> labels) {
    if (at == axes.size()) return add(given, labels);
    const std::string& axis = axes[at];
    if (axis.empty() || axis == "measure") return over(axes, at + 1, std::move(given), std::move(labels));
    for (const std::string& value : values_of(axis, figure_.records)) {
      auto narrower = given;
      narrower.push_back({axis, Condition::Sign::equal, value});
      labels[axis] = value;
      over(axes, at + 1, std::move(narrower), labels);
    }
    if (axis == plot_.x && !plot_.overall.empty()) {
      labels[axis] = plot_.overall;
      over(axes, at + 1, std::move(given), labels);
    }
  }

  void add(const std::vector<Condition>& given, const std::map<std::string, std::string>& labels) {
    for (const Curve& curve : plot_.y) {
      const auto value = curve.value.evaluate(figure_.records, given);
      if (!value || !std::isfinite(*value)) continue;
      PlotRow row{labels, *value, false};
      if (!curve.label.empty()) row.labels["measure"] = curve.label;
      figure_.rows.push_back(std::move(row));
    }
  }

  const Plot& plot_;
  Figure& figure_;
};

// The records of an oracle: for every case the run with the highest IPC, among its own splits and the runs of the other
// policies. The result has one record of the oracle per case.
Records with_best(const Records& all, const std::string& policy) {
  Records records;
  std::map<std::map<std::string, std::string>, std::pair<double, Record>> best;  // by case
  for (const Record& r : all) {
    auto labels = r.labels;
    labels["split"] = "";
    labels["policy"] = policy;
    const double ipc = measure(r, "ipc").value_or(0);
    const auto [at, fresh] = best.try_emplace(labels, ipc, Record{r.key, labels, r.result});
    if (!fresh && ipc > at->second.first) at->second = {ipc, {r.key, labels, r.result}};
    if (r.labels.at("policy") != policy) records.push_back(r);
  }
  for (const Record& r : all)  // in the order of the cells, where the policy has any
    if (r.labels.at("policy") == policy) {
      auto labels = r.labels;
      labels["split"] = "";
      const auto found = best.find(labels);
      if (found == best.end()) continue;
      records.push_back(found->second.second);
      best.erase(found);
    }
  return records;
}

Json json_of(const PlotRow& row) {
  Json j = Json::object();
  for (const auto& [label, value] : row.labels) j[label] = value;
  j["value"] = row.value;
  j["source"] = row.from_paper ? "paper" : "measured";
  return j;
}

Json json_of(const JudgedClaim& c) {
  return {{"id", c.claim->id},
          {"says", c.claim->says},
          {"paper", c.claim->paper},
          {"measured", c.measured ? Json(*c.measured) : Json(nullptr)},
          {"verdict", c.verdict == Verdict::unknown ? Json(nullptr) : Json(name(c.verdict))},
          {"unit", c.claim->unit},
          {"within", c.claim->within},
          {"measure", c.claim->measured.text()}};
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::direction:
      return "direction";
    case Verdict::no:
      return "no";
    case Verdict::unknown:
      return "not run";
  }
  return "";
}

Verdict judge(const Claim& claim, std::optional<double> measured) {
  if (!measured) return Verdict::unknown;
  constexpr double kSlack = 1e-9;  // a value exactly at the bound is within it
  if (std::abs(*measured - claim.paper) <= claim.within + kSlack) return Verdict::reproduced;
  if (!claim.neutral) return Verdict::no;
  const bool same_side = (claim.paper > *claim.neutral) == (*measured > *claim.neutral) && *measured != *claim.neutral;
  return same_side ? Verdict::direction : Verdict::no;
}

std::map<std::string, const Row*> index(const Results& results) {
  std::map<std::string, const Row*> all;
  for (const Row& row : results.rows) all[row.key] = &row;
  return all;
}

Figure make_figure(const Experiment& experiment, const Protocol& protocol, const Matrix& matrix,
                   const std::map<std::string, const Row*>& rows) {
  Figure f;
  f.experiment = &experiment;
  f.protocol = protocol.name;
  f.cells = matrix.cells.size();
  for (const Cell& cell : matrix.cells) {
    const auto found = rows.find(cell.key);
    if (found == rows.end()) continue;
    if (found->second->state == Row::State::failed) {
      ++f.failed;
      continue;
    }
    Json result = Json::parse(found->second->result, nullptr, false);
    if (result.is_discarded()) continue;
    ++f.done;
    if (found->second->code_version != cell.code_version) ++f.old;
    f.results.push_back(std::make_unique<Json>(std::move(result)));
    f.records.push_back({cell.key, cell.labels, f.results.back().get()});
  }
  for (const LabelledPolicy& l : protocol.policies)
    if (l.splits != LabelledPolicy::Splits::none) f.records = with_best(f.records, l.label);
  Rows(experiment.plot, f).make();
  for (const Reported& r : experiment.reported) f.rows.push_back({r.labels, r.value, true});
  for (const Claim& claim : experiment.claims) {
    const auto measured = f.records.empty() ? std::nullopt : claim.measured.evaluate(f.records);
    f.claims.push_back({&claim, measured, judge(claim, measured)});
  }
  return f;
}

Json json_of(const Figure& f) {
  Json claims = Json::array();
  for (const JudgedClaim& c : f.claims) claims.push_back(json_of(c));
  Json rows = Json::array();
  for (const PlotRow& r : f.rows) rows.push_back(json_of(r));
  return {{"schema", 1},
          {"figure", f.experiment->id},
          {"title", f.experiment->title},
          {"protocol", f.protocol},
          {"cells", f.cells},
          {"done", f.done},
          {"failed", f.failed},
          {"claims", claims},
          {"rows", rows}};
}

}  // namespace wm::lab
