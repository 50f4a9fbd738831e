#include "lab/report/figure.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/counted.h"
#include "base/number.h"
#include "lab/report/confidence.h"
#include "lab/store/parse_json.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

// One row for every combination of the axes' values that has records.
class Rows {
 public:
  Rows(const Plot& plot, const RecordIndex& records, Figure& figure)
      : plot_(plot), records_(records), figure_(figure) {}

  void make() { over({plot_.facet, plot_.series, plot_.x}, 0, {}, {}); }

 private:
  void over(const std::vector<std::string>& axes, std::size_t at, std::vector<Condition> given,
            std::map<std::string, std::string> labels) {
    if (at == axes.size()) return add(given, labels);
    const std::string& axis = axes[at];
    if (axis.empty() || axis == "measure") return over(axes, at + 1, std::move(given), std::move(labels));
    for (const std::string& value : records_.values(axis)) {
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
      const auto value = estimate(curve.value, records_, given);
      if (!value) continue;
      PlotRow row{labels, value->mean, value->half_width, value->samples, false};
      if (!curve.label.empty()) row.labels["measure"] = curve.label;
      figure_.rows.push_back(std::move(row));
    }
  }

  const Plot& plot_;
  const RecordIndex& records_;
  Figure& figure_;
};

// One record of a policy per case, in the place of its first one: the run with the best score, among its candidates
// and, where `others_too`, the runs of the other policies.
template <typename Score>
Records with_best(const Records& all, const std::string& policy, bool others_too, const Score& score) {
  const auto case_of = [&](const Record& r) {
    auto labels = r.labels;
    labels["split"] = "";
    labels["policy"] = policy;
    return labels;
  };
  std::map<std::map<std::string, std::string>, std::pair<double, Record>> best;  // by case
  for (const Record& r : all) {
    if (!others_too && r.labels.at("policy") != policy) continue;
    const auto labels = case_of(r);
    const double s = score(r);
    const auto [at, fresh] = best.try_emplace(labels, s, Record{r.key, labels, r.result});
    if (!fresh && s > at->second.first) at->second = {s, {r.key, labels, r.result}};
  }
  Records records;
  for (const Record& r : all)
    if (r.labels.at("policy") != policy) records.push_back(r);
  for (const Record& r : all) {
    if (r.labels.at("policy") != policy) continue;
    const auto found = best.find(case_of(r));
    if (found == best.end()) continue;
    records.push_back(found->second.second);
    best.erase(found);
  }
  return records;
}

// The run with the highest IPC.
double score_of_oracle(const Record& r) { return measure(r, "ipc").value_or(0); }

// The fewest SMs that meet the goal; where none do, the run that is nearest to it.
double score_of_offline(const Record& r) {
  const double sms = parse_double(r.labels.at("split")).value_or(0);
  return measure(r, "reached").value_or(0) > 0 ? 2 - sms / 1e6 : std::min(measure(r, "of_goal").value_or(0), 1.0);
}

// A cell of other code is confirmed by records, or stale where there are none.
void add_older(Figure& f, const Cell& cell, const std::vector<Confirmation>& records) {
  if (records.empty()) {
    ++f.stale;
    return;
  }
  f.confirmed.insert(cell.key);
  f.confirmations.insert(records.begin(), records.end());
}

Json json_of(const PlotRow& row) {
  Json j = Json::object();
  for (const auto& [label, value] : row.labels) j[label] = value;
  j["value"] = row.value;
  add_interval(row, j);
  j["source"] = row.from_paper ? "paper" : "measured";
  return j;
}

Json json_of(const JudgedClaim& c) {
  Json j = {{"id", c.claim->id},
            {"says", c.claim->says},
            {"paper", c.claim->paper},
            {"measured", c.measured ? Json(*c.measured) : Json(nullptr)},
            {"verdict", c.verdict == Verdict::unknown ? Json(nullptr) : Json(name(c.verdict))},
            {"unit", c.claim->unit},
            {"within", c.claim->within},
            {"tolerance", tolerance_text(*c.claim)},
            {"measure", c.claim->measured.text()}};
  if (c.half_width > 0) j["half_width"] = c.half_width;
  return j;
}

}  // namespace

void add_interval(const PlotRow& row, Json& out) {
  if (row.seeds < 2) return;
  out["low"] = row.value - row.half_width;
  out["high"] = row.value + row.half_width;
  out["seeds"] = row.seeds;
}

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
  constexpr double kLeastPart = 0.25;
  const double effect = claim.paper - *claim.neutral;
  const double part = effect == 0 ? 0 : (*measured - *claim.neutral) / effect;
  return part >= kLeastPart ? Verdict::direction : Verdict::no;
}

std::map<std::string, const Row*> index(const Results& results) {
  std::map<std::string, const Row*> all;
  for (const Row& row : results.rows) all[row.key] = &row;
  return all;
}

Figure make_figure(const Experiment& experiment, const Protocol& protocol, const Matrix& matrix,
                   const std::map<std::string, const Row*>& rows, const Confirmations& confirmed) {
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
    Json result = parse_json(found->second->result);
    if (result.is_discarded()) continue;
    ++f.done;
    const std::string& version = found->second->code_version;
    if (version != cell.code_version) add_older(f, cell, confirmed.path(version, cell.code_version));
    ++f.versions[version.substr(0, version.find('-'))];
    f.results.push_back(std::make_unique<Json>(std::move(result)));
    f.records.push_back({cell.key, cell.labels, f.results.back().get()});
  }
  for (const LabelledPolicy& l : protocol.policies) {
    if (l.splits == LabelledPolicy::Splits::sms)
      f.records = with_best(f.records, l.label, false, score_of_offline);
    else if (l.splits != LabelledPolicy::Splits::none)
      f.records = with_best(f.records, l.label, true, score_of_oracle);
  }
  const RecordIndex records(f.records);
  Rows(experiment.plot, records, f).make();
  for (const Reported& r : experiment.reported)
    f.rows.push_back({.labels = r.labels, .value = r.value, .from_paper = true});
  for (const Claim& claim : experiment.claims) {
    const auto found = f.records.empty() ? std::nullopt : estimate(claim.measured, records);
    const auto measured = found ? std::optional(found->mean) : std::nullopt;
    f.claims.push_back({&claim, measured, found ? found->half_width : 0, judge(claim, measured)});
  }
  return f;
}

std::string sampled_text(const std::set<Confirmation>& confirmations) {
  std::size_t cells = 0;
  std::size_t of = 0;
  for (const Confirmation& c : confirmations) {
    cells += c.cells;
    of += c.of;
  }
  return fmt::format("{} of {}", cells, counted(of, "row"));
}

void keep_longest(std::vector<Figure>& figures) {
  const auto cycles = [](const Figure& f) { return f.experiment->protocol(f.protocol)->cycles; };
  // Whether `a` answers the claim rather than `b`.
  const auto before = [&](const Figure& a, const JudgedClaim& in_a, const Figure& b, const JudgedClaim& in_b) {
    if (in_a.measured.has_value() != in_b.measured.has_value()) return in_a.measured.has_value();
    const bool longer = cycles(a) != cycles(b) ? cycles(a) > cycles(b) : a.cells > b.cells;
    const bool enough = a.done == a.cells || a.done >= b.cells;
    const bool other_enough = b.done == b.cells || b.done >= a.cells;
    return longer ? enough : !other_enough;
  };
  std::map<std::pair<std::string, std::string>, std::pair<const Figure*, const JudgedClaim*>> best;
  for (const Figure& f : figures)
    for (const JudgedClaim& c : f.claims) {
      const auto [at, fresh] = best.try_emplace({f.experiment->id, c.claim->id}, &f, &c);
      if (!fresh && before(f, c, *at->second.first, *at->second.second)) at->second = {&f, &c};
    }
  std::vector<std::vector<JudgedClaim>> kept(figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i)
    for (const JudgedClaim& c : figures[i].claims)
      if (best.at({figures[i].experiment->id, c.claim->id}).second == &c) kept[i].push_back(c);
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i].claims = std::move(kept[i]);
}

std::string tolerance_text(const Claim& c) {
  if (c.within == 0) return "exact";
  if (c.relative) return fmt::format("{:.3g}%", 100 * c.within / std::abs(c.paper));
  return c.unit == "%" ? fmt::format("{:.3g} points", 100 * c.within) : fmt::format("{:.3g}", c.within);
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
          {"stale", f.stale},
          {"confirmed", f.confirmed.size()},
          {"code_versions", f.versions},
          {"claims", claims},
          {"rows", rows}};
}

}  // namespace wm::lab
