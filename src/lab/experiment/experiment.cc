#include "lab/experiment/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/yaml_map.h"
#include "lab/experiment/paper.h"
#include "lab/experiment/seeds.h"
#include "policy/registry.h"

namespace wm::lab {
namespace {

namespace fs = std::filesystem;
using yaml::Map;
using yaml::Value;

Result<void> one_of(const std::string& what, const Value& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value.text) != known.end()) return {};
  return Error{fmt::format("unknown {} '{}'{}", what, value.text, did_you_mean(value.text, known)), value.place};
}

Result<std::vector<LabelledPolicy>> read_policies(const Value& value) {
  std::vector<LabelledPolicy> all;
  for (const yaml::Member& m : value.members) {
    LabelledPolicy l{m.key, m.value.text};
    for (const auto& [ending, splits] : {std::pair{":blocks=*", LabelledPolicy::Splits::all},
                                         {":blocks=full", LabelledPolicy::Splits::full},
                                         {":sms=*", LabelledPolicy::Splits::sms}}) {
      if (!l.policy.ends_with(ending)) continue;
      l.splits = splits;
      l.policy.resize(l.policy.size() - std::string_view(ending).size());
    }
    const std::string tried = l.policy + (l.splits == LabelledPolicy::Splits::none  ? ""
                                          : l.splits == LabelledPolicy::Splits::sms ? ":sms=1"
                                                                                    : ":blocks=1/1");
    if (auto known = policy::choose(tried); !known) return Error{known.error().what, m.value.place};
    all.push_back(std::move(l));
  }
  if (all.empty()) return Error{"'policies' must be a map from labels to policies", value.place};
  return all;
}

Result<void> check_goals(const Value& value, const Protocol& p) {
  for (const double goal : p.goals)
    if (!(goal > 0 && goal <= 1))
      return Error{fmt::format("a goal is a part of the isolated rate, above 0 and at most 1, not {}", goal),
                   value.place};
  return {};
}

Result<void> read_goals(const Value& value, Protocol& p) {
  if (value.kind == Value::Kind::list) {
    if (auto read = yaml::read(value, "'goals'", p.goals); !read) return read;
    return check_goals(value, p);
  }
  Map map(value, "goals");
  std::vector<std::size_t> kernels;
  map.required("values", p.goals).required("kernels", kernels);
  if (auto read = map.finish(); !read) return read;
  p.goal_kernels.clear();
  for (const std::size_t k : kernels) {
    if (k == 0) return Error{"kernels with a goal are counted from 1", value.place};
    p.goal_kernels.push_back(k - 1);
  }
  return check_goals(value, p);
}

Result<void> read_parameters(const Value& value, Protocol& p) {
  p.parameters.clear();
  for (const yaml::Member& m : value.members) {
    Axis axis{m.key, {}};
    for (const Value& v : m.value.items) axis.values.push_back(v.text);
    if (axis.values.empty()) return Error{fmt::format("'{}' must be a list of values", m.key), m.place};
    bool anybody = false;
    std::vector<std::string> known;
    for (const LabelledPolicy& l : p.policies) {
      const auto choice = policy::choose(l.policy);
      const auto& table = choice->entry->info.parameters;
      for (const auto& q : table) known.emplace_back(q.name);
      if (std::none_of(table.begin(), table.end(), [&](const auto& q) { return q.name == m.key; })) continue;
      anybody = true;
      for (const Value& v : m.value.items)
        if (auto fits = policy::choose(l.policy + ":" + m.key + "=" + v.text); !fits)
          return Error{fits.error().what, v.place};
    }
    if (!anybody)
      return Error{fmt::format("no policy here has a parameter '{}'{}", m.key, did_you_mean(m.key, known)), m.place};
    p.parameters.push_back(std::move(axis));
  }
  return {};
}

// Applies settings in layers: the paper's first, then the figure's, then the protocol's.
class Layers {
 public:
  static constexpr std::array kKeys = {
      "gpus", "policies",           "workloads", "goals", "parameters", "blocks", "cycles",         "about",
      "seed", "match_instructions", "arrivals",  "seeds", "runs",       "size",   "first_priority", "machine"};

  Layers(const Paper& paper, const Names& names) : paper_(paper), names_(names) {}

  Result<void> read(Map& map, Protocol& p) const {
    if (const Value* v = map.take("gpus")) {
      map.keep(yaml::read(*v, "'gpus'", p.gpus));
      for (const Value& g : v->items)
        if (auto known = names_.gpu(g.text); !known) return Error{known.error().what, g.place};
    }
    if (const Value* v = map.take("policies")) {
      auto read = read_policies(*v);
      if (!read) return read.error();
      p.policies = *std::move(read);
    }
    if (const Value* v = map.take("workloads")) {
      auto read = read_workloads(*v, paper_, names_);
      if (!read) return read.error();
      p.workloads = *std::move(read);
    }
    if (const Value* v = map.take("goals"))
      if (auto read = read_goals(*v, p); !read) return read;
    if (const Value* v = map.take("parameters"))
      if (auto read = read_parameters(*v, p); !read) return read;
    map.optional("blocks", p.blocks).optional("cycles", p.cycles).optional("match_instructions", p.match_instructions);
    map.optional("about", p.about).optional("arrivals", p.arrivals);
    for (const char* key : {"seed", "seeds"})
      if (const Value* v = map.take(key))
        if (auto read = read_seeds(*v, key, p.seeds); !read) return read;
    map.optional("runs", p.runs).optional("first_priority", p.first_priority);
    if (const Value* v = map.take("machine")) {
      if (auto known = one_of("machine", *v, {"cycle", "block"}); !known) return known;
      p.machine = v->text;
    }
    if (const Value* v = map.take("size")) {
      if (auto known = one_of("size", *v, {"small", "medium", "large", "short_blocks"}); !known) return known;
      p.size = v->text;
    }
    return {};
  }

 private:
  const Paper& paper_;
  const Names& names_;
};

// Other mistakes may follow from an unknown key, so it is reported before them.
Result<void> check_keys(const Value& value, const std::string& name, std::initializer_list<const char*> more) {
  Map map(value, name);
  for (const char* key : Layers::kKeys) map.take(key);
  for (const char* key : more) map.take(key);
  return map.finish();
}

Result<void> check_complete(const Protocol& p, const Place& place) {
  const auto missing = [&](const char* what) {
    return Error{fmt::format("protocol '{}' has no {}", p.name, what), place};
  };
  if (p.gpus.empty()) return missing("gpus");
  if (p.workloads.empty()) return missing("workloads");
  if (p.policies.empty()) return missing("policies");
  for (const Workload& w : p.workloads)
    for (const std::size_t k : p.goal_kernels)
      if (k >= w.kernels.size())
        return Error{fmt::format("protocol '{}': workload '{}' has no kernel {} to have a goal", p.name, w.name, k + 1),
                     place};
  if (p.goals.empty() != p.goal_kernels.empty()) return missing("kernels for its goals");
  if (p.match_instructions && p.cycles == 0) return missing("cycles to match instructions of");
  if (p.arrivals != 0 && p.machine != "cycle")
    return Error{fmt::format("protocol '{}': 'arrivals' applies to the cycle machine only", p.name), place};
  return {};
}

Result<void> read_plot(const Value& value, const std::vector<std::string>& labels, Plot& plot) {
  Map map(value, "plot");
  std::vector<std::string> axes = labels;
  axes.emplace_back("measure");
  if (const Value* kind = map.take("kind")) {
    if (auto known = one_of("kind", *kind, {"bar", "line", "point"}); !known) return known;
    plot.kind = kind->text;
  }
  for (auto [key, out] : {std::pair{"x", &plot.x}, {"series", &plot.series}, {"facet", &plot.facet}})
    if (const Value* axis = map.take(key)) {
      if (auto known = one_of("label", *axis, axes); !known) return known;
      *out = axis->text;
    }
  if (plot.x.empty()) map.miss("x");
  const Value* y = map.take("y");
  if (y == nullptr) map.miss("y");
  map.optional("x_title", plot.x_title).optional("y_title", plot.y_title).optional("overall", plot.overall);
  if (double rule = 0; const Value* r = map.take("rule")) {
    map.keep(yaml::read(*r, "'rule' in plot", rule));
    plot.rule = rule;
  }
  if (auto read = map.finish(); !read) return read;
  const auto add = [&](const std::string& label, const Value& text) -> Result<void> {
    auto e = Expression::parse(text.text, text.place, labels);
    if (!e) return e.error();
    plot.y.push_back({label, *std::move(e)});
    return {};
  };
  if (y->kind == Value::Kind::scalar) return add("", *y);
  for (const yaml::Member& m : y->members)
    if (auto added = add(m.key, m.value); !added) return added;
  if (plot.y.empty()) return Error{"'y' must be an expression, or a map of them", y->place};
  return {};
}

Result<Reported> read_reported(const Value& value, const Plot& plot) {
  Reported r;
  Map map(value, "reported");
  map.required("value", r.value);
  for (const std::string& axis : {plot.x, plot.series, plot.facet})
    if (!axis.empty())
      if (const Value* v = map.take(axis)) r.labels[axis] = v->text;
  if (auto read = map.finish(); !read) return read.error();
  return r;
}

// A distance, or a part of the paper's value as in "4%".
Result<void> read_within(const Value& value, Claim& c) {
  c.relative = value.text.ends_with('%');
  const auto number = parse_double(c.relative ? value.text.substr(0, value.text.size() - 1) : value.text);
  if (!number || *number < 0)
    return Error{fmt::format("'within' in claims must be a number or a percentage, not '{}'", value.text), value.place};
  c.within = c.relative ? *number / 100 * std::abs(c.paper) : *number;
  return {};
}

Result<Claim> read_claim(const Value& value, const std::vector<std::string>& labels) {
  Claim c;
  Map map(value, "claims");
  double neutral = 0;
  map.required("id", c.id).required("says", c.says).required("paper", c.paper);
  map.optional("unit", c.unit).optional("same_as", c.same_as);
  if (const Value* within = map.take("within")) {
    if (auto read = read_within(*within, c); !read) return read.error();
  } else {
    map.miss("within");
  }
  const Value* n = map.take("neutral");
  if (n != nullptr) {
    map.keep(yaml::read(*n, "'neutral' in claims", neutral));
    c.neutral = neutral;
  }
  const Value* m = map.take("measure");
  if (m == nullptr) map.miss("measure");
  if (auto read = map.finish(); !read) return read.error();
  auto e = Expression::parse(m->text, m->place, labels);
  if (!e) return e.error();
  c.measured = *std::move(e);
  return c;
}

// A claim may only name policies that some protocol runs.
Result<void> check_mentioned(const Expression& e, const Experiment& experiment, const Place& place) {
  std::vector<std::string> labels;
  for (const Protocol& p : experiment.protocols)
    for (const LabelledPolicy& l : p.policies) labels.push_back(l.label);
  for (const std::string& name : e.mentioned("policy"))
    if (std::find(labels.begin(), labels.end(), name) == labels.end())
      return Error{fmt::format("no policy here is called '{}'{}", name, did_you_mean(name, labels)), place};
  return {};
}

Result<void> read_protocols(const Value& file, const Paper& paper, const Names& names, Map& map, Experiment& e) {
  const Layers layers(paper, names);
  Protocol base;
  const Value* figure_part = map.take("protocols");
  const auto member = [](const Value* value, const std::string& key) -> const Value* {
    if (value != nullptr)
      for (const yaml::Member& m : value->members)
        if (m.key == key) return &m.value;
    return nullptr;
  };
  if (auto read = layers.read(map, base); !read) return read;
  base.about.clear();
  for (const char* name : {"quick", "paper"}) {
    const Value* shared = member(&paper.protocols, name);
    const Value* own_part = member(figure_part, name);
    if (shared == nullptr && own_part == nullptr) continue;
    Protocol p = base;
    for (const Value* part : {shared, own_part})
      if (part != nullptr && part->kind != Value::Kind::null) {
        if (auto known = check_keys(*part, std::string("protocol ") + name, {}); !known) return known;
        Map m(*part, std::string("protocol ") + name);
        if (auto read = layers.read(m, p); !read) return read;
        if (auto read = m.finish(); !read) return read;
      }
    p.name = name;
    if (auto complete = check_complete(p, (own_part != nullptr ? own_part : shared)->place); !complete) return complete;
    e.protocols.push_back(std::move(p));
  }
  if (figure_part != nullptr)
    for (const yaml::Member& m : figure_part->members)
      if (m.key != "quick" && m.key != "paper")
        return Error{fmt::format("unknown protocol '{}'; there are 'quick' and 'paper'", m.key), m.place};
  if (e.protocols.empty()) return Error{"no protocol: 'quick' or 'paper'", file.place};
  return {};
}

}  // namespace

std::vector<std::string> labels_of(const std::vector<Axis>& parameters) {
  std::vector<std::string> labels{"gpu",  "workload", "group", "kernel", "beside",    "policy",
                                  "goal", "blocks",   "split", "class",  "processes", "seed"};
  for (const Axis& a : parameters) labels.push_back(a.parameter);
  return labels;
}

const Protocol* Experiment::protocol(const std::string& name) const {
  for (const Protocol& p : protocols)
    if (p.name == name) return &p;
  return nullptr;
}

namespace {

// Sorts numbers in names by value: figure 9 comes before figure 10.
std::string in_order(const std::string& name) {
  std::string key, digits;
  const auto flush = [&] {
    if (!digits.empty()) key += std::string(8 - std::min<std::size_t>(8, digits.size()), '0') + digits;
    digits.clear();
  };
  for (const char c : name) {
    if (c >= '0' && c <= '9') {
      digits += c;
    } else {
      flush();
      key += c;
    }
  }
  flush();
  return key;
}

}  // namespace

std::vector<std::string> experiment_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& paper : fs::directory_iterator(folder, ignored))
    for (const auto& entry : fs::directory_iterator(paper.path(), ignored))
      if (entry.path().extension() == ".yaml" && entry.path().stem() != "paper")
        names.push_back(paper.path().filename().string() + "/" + entry.path().stem().string());
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return std::pair(in_order(a), a) < std::pair(in_order(b), b); });
  return names;
}

Result<Experiment> load_experiment(const std::string& name, const std::string& folder, const Names& names) {
  const bool path = name.ends_with(".yaml");
  const std::string file = path ? name : folder + "/" + name + ".yaml";
  if (!path) {
    const std::vector<std::string> known = experiment_names(folder);
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{fmt::format("unknown figure '{}'{}; `wm lab list` names them, a path ends in .yaml", name,
                               did_you_mean(name, known))};
  }
  const auto value = yaml::load_file(file);
  if (!value) return value.error();
  const auto paper = load_paper((fs::path(file).parent_path() / "paper.yaml").string(), names);
  if (!paper) return paper.error();
  Experiment e;
  e.name = name;
  e.file = file;
  e.paper = fs::absolute(file).parent_path().filename().string();
  e.id = e.paper + "/" + fs::path(file).stem().string();
  e.cite = paper->cite;
  const auto known = check_keys(*value, "", {"title", "section", "protocols", "plot", "reported", "claims"});
  if (!known) return known.error();
  Map map(*value, "");
  map.required("title", e.title).optional("section", e.section).optional("about", e.about);
  if (auto read = read_protocols(*value, *paper, names, map, e); !read) return read.error();
  const std::vector<std::string> labels = labels_of(e.protocols.front().parameters);
  const Value* plot = map.take("plot");
  const Value* reported = map.take("reported");
  const Value* claims = map.take("claims");
  if (plot == nullptr) map.miss("plot");
  if (auto read = map.finish(); !read) return read.error();
  if (auto read = read_plot(*plot, labels, e.plot); !read) return read.error();
  for (const Curve& c : e.plot.y)
    if (auto known = check_mentioned(c.value, e, plot->place); !known) return known.error();
  if (reported != nullptr)
    for (const Value& r : reported->items) {
      auto read = read_reported(r, e.plot);
      if (!read) return read.error();
      e.reported.push_back(*std::move(read));
    }
  if (claims != nullptr)
    for (const Value& c : claims->items) {
      auto read = read_claim(c, labels);
      if (!read) return read.error();
      if (auto known = check_mentioned(read->measured, e, c.place); !known) return known.error();
      e.claims.push_back(*std::move(read));
    }
  return e;
}

}  // namespace wm::lab
