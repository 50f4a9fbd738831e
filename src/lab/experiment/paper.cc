#include "lab/experiment/paper.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <set>

#include "base/nearest.h"
#include "base/yaml_map.h"
#include "sim/block/workload.h"

namespace wm::lab {
namespace {

using yaml::Map;
using yaml::Value;

Result<void> check_kernel(const Value& value, const Names& names) {
  if (value.kind != Value::Kind::scalar) return Error{"a kernel's name expected", value.place};
  if (auto known = names.kernel(value.text); !known) return Error{known.error().what, value.place};
  return {};
}

std::string class_of(const std::string& kernel, const Paper& paper) {
  for (const auto& [name, kernels] : paper.classes)
    if (std::find(kernels.begin(), kernels.end(), kernel) != kernels.end()) return name;
  return {};
}

Workload workload_of(std::vector<std::string> kernels, const Paper& paper) {
  Workload w;
  std::vector<std::string> classes;
  for (const std::string& k : kernels) {
    w.name += (w.name.empty() ? "" : "_") + k;
    classes.push_back(class_of(k, paper));
  }
  w.first_class = classes.front();
  if (!paper.group_ordered) std::sort(classes.begin(), classes.end());
  for (const std::string& c : classes) w.group += (w.group.empty() ? "" : paper.group_join) + c;
  w.kernels = std::move(kernels);
  return w;
}

// One factor of a product: a class, `all`, or a list of kernels.
Result<std::vector<std::string>> read_factor(const Value& value, const Paper& paper, const Names& names) {
  if (value.kind == Value::Kind::scalar) {
    if (value.text == "all") return paper.kernels;
    const auto found = paper.classes.find(value.text);
    if (found != paper.classes.end()) return found->second;
    std::vector<std::string> known{"all"};
    for (const auto& [name, ignored] : paper.classes) known.push_back(name);
    return Error{fmt::format("unknown class '{}'{}", value.text, did_you_mean(value.text, known)), value.place};
  }
  std::vector<std::string> kernels;
  for (const Value& item : value.items) {
    if (auto known = check_kernel(item, names); !known) return known.error();
    kernels.push_back(item.text);
  }
  if (kernels.empty()) return Error{"a class or a list of kernels expected", value.place};
  return kernels;
}

// Steps of this length around a ring of `count` places visit each once, and the first few are spread over all of it:
// near the golden section of the ring, so that `--first` takes a sample, too.
std::size_t spreading_step(std::size_t count) {
  auto step = static_cast<std::size_t>(std::lround(static_cast<double>(count) * 0.618));
  while (std::gcd(std::max<std::size_t>(step, 1), count) != 1) ++step;
  return std::max<std::size_t>(step, 1);
}

Result<std::vector<Workload>> read_product(const Value& value, const Paper& paper, const Names& names) {
  Map map(value, "workloads");
  bool unordered = false;
  bool repeats = false;  // a kernel may stand beside itself
  std::size_t sample = 0;
  const Value* factors = map.take("product");
  map.optional("unordered", unordered).optional("repeats", repeats).optional("sample", sample);
  if (factors == nullptr) map.miss("product");
  if (auto read = map.finish(); !read) return read.error();
  std::vector<std::vector<std::string>> tuples{{}};
  for (const Value& factor : factors->items) {
    const auto kernels = read_factor(factor, paper, names);
    if (!kernels) return kernels.error();
    std::vector<std::vector<std::string>> longer;
    for (const auto& t : tuples)
      for (const std::string& k : *kernels)
        if (repeats || std::find(t.begin(), t.end(), k) == t.end()) {
          longer.push_back(t);
          longer.back().push_back(k);
        }
    tuples = std::move(longer);
  }
  std::vector<Workload> all;
  std::set<std::multiset<std::string>> seen;
  for (auto& t : tuples)
    if (!unordered || seen.insert({t.begin(), t.end()}).second) all.push_back(workload_of(std::move(t), paper));
  if (sample == 0 || sample >= all.size()) return all;
  // The sample is spread evenly over the list and is the same every time.
  std::vector<Workload> some;
  const std::size_t step = spreading_step(sample);
  for (std::size_t i = 0; i < sample; ++i) {
    const std::size_t place = i * step % sample;
    some.push_back(all[(2 * place + 1) * all.size() / (2 * sample)]);
  }
  return some;
}

// {ring: KERNELS, steps: [1, 4]} pairs each kernel with the one `step` places further around the ring, for each step,
// so that each turn around the ring has every kernel first once and second once.
Result<std::vector<Workload>> read_ring(const Value& value, const Paper& paper, const Names& names) {
  Map map(value, "workloads");
  std::vector<std::size_t> steps;
  const Value* ring = map.take("ring");
  map.required("steps", steps);
  if (auto read = map.finish(); !read) return read.error();
  const auto kernels = read_factor(*ring, paper, names);
  if (!kernels) return kernels.error();
  std::vector<Workload> all;
  for (const std::size_t step : steps) {
    if (step == 0 || step >= kernels->size())
      return Error{fmt::format("steps around this ring are 1 to {}", kernels->size() - 1), value.place};
    for (std::size_t i = 0; i < kernels->size(); ++i)
      all.push_back(workload_of({(*kernels)[i], (*kernels)[(i + step) % kernels->size()]}, paper));
  }
  return all;
}

// {random: KERNELS, processes: [2, 4], count: 100, seed: 1, classes: {A: […]}} draws as many workloads of each size:
// the first kernel runs through the list in turn, so that each is first equally often, and the others are random.
// `classes` gives the first kernel's class in place of the paper's.
Result<std::vector<Workload>> read_random(const Value& value, const Paper& paper, const Names& names) {
  Map map(value, "workloads");
  std::vector<std::uint32_t> sizes;
  std::uint32_t count = 0;
  std::uint64_t seed = 1;
  const Value* factor = map.take("random");
  const Value* classes = map.take("classes");
  map.required("processes", sizes).required("count", count).optional("seed", seed);
  if (auto read = map.finish(); !read) return read.error();
  const auto kernels = read_factor(*factor, paper, names);
  if (!kernels) return kernels.error();
  std::vector<Workload> all;
  for (const std::uint32_t size : sizes) {
    if (size == 0 || size > 1024) return Error{"'processes' are from 1 to 1024", value.place};
    for (const sim::Workload& drawn : sim::random_workloads(*kernels, size, count, 0, seed + size)) {
      std::vector<std::string> apps;
      for (const sim::WorkloadProcess& p : drawn) apps.push_back(p.app);
      all.push_back(workload_of(std::move(apps), paper));
      if (classes == nullptr) continue;
      for (const yaml::Member& c : classes->members)
        for (const Value& k : c.value.items)
          if (k.text == all.back().kernels.front()) all.back().first_class = c.key;
    }
  }
  return all;
}

// {sets: [pairs, fours]}: the workloads of several sets, one after the other.
Result<std::vector<Workload>> read_sets(const Value& value, const Paper& paper, const Names& names) {
  Map map(value, "workloads");
  const Value* sets = map.take("sets");
  if (auto read = map.finish(); !read) return read.error();
  std::vector<Workload> all;
  for (const Value& set : sets->items) {
    const auto some = read_workloads(set, paper, names);
    if (!some) return some.error();
    all.insert(all.end(), some->begin(), some->end());
  }
  if (all.empty()) return Error{"a list of sets of workloads expected", value.place};
  return all;
}

Result<std::vector<Workload>> read_list(const Value& value, const Paper& paper, const Names& names) {
  std::vector<Workload> all;
  for (const Value& item : value.items) {
    std::vector<std::string> kernels;
    const std::vector<Value> one{item};
    for (const Value& k : item.kind == Value::Kind::list ? item.items : one) {
      if (auto known = check_kernel(k, names); !known) return known.error();
      kernels.push_back(k.text);
    }
    all.push_back(workload_of(std::move(kernels), paper));
  }
  return all;
}

}  // namespace

Result<std::vector<Workload>> read_workloads(const Value& value, const Paper& paper, const Names& names) {
  if (value.kind == Value::Kind::map) {
    const auto has = [&](const char* key) {
      return std::any_of(value.members.begin(), value.members.end(),
                         [&](const yaml::Member& m) { return m.key == key; });
    };
    if (has("random")) return read_random(value, paper, names);
    if (has("sets")) return read_sets(value, paper, names);
    return has("ring") ? read_ring(value, paper, names) : read_product(value, paper, names);
  }
  if (value.kind == Value::Kind::list) return read_list(value, paper, names);
  const auto found = paper.workloads.find(value.text);
  if (found != paper.workloads.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, ignored] : paper.workloads) known.push_back(name);
  return Error{fmt::format("unknown set of workloads '{}'{}", value.text, did_you_mean(value.text, known)),
               value.place};
}

Result<Paper> load_paper(const std::string& path, const Names& names) {
  Paper paper;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return paper;
  const auto value = yaml::load_file(path);
  if (!value) return value.error();
  Map map(*value, "");
  map.required("title", paper.title).required("cite", paper.cite);
  if (const Value* groups = map.take("groups")) {
    Map m(*groups, "groups");
    m.optional("join", paper.group_join).optional("ordered", paper.group_ordered);
    map.keep(m.finish());
  }
  if (const Value* classes = map.take("classes"))
    for (const yaml::Member& c : classes->members) {
      for (const Value& k : c.value.items) {
        if (auto known = check_kernel(k, names); !known) return known.error();
        paper.classes[c.key].push_back(k.text);
        paper.kernels.push_back(k.text);
      }
    }
  if (const Value* sets = map.take("workloads"))
    for (const yaml::Member& s : sets->members) {
      auto set = read_workloads(s.value, paper, names);
      if (!set) return set.error();
      paper.workloads[s.key] = *std::move(set);
    }
  if (const Value* protocols = map.take("protocols")) paper.protocols = *protocols;
  if (auto read = map.finish(); !read) return read.error();
  return paper;
}

}  // namespace wm::lab
