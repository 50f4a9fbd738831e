#include "lab/experiment/matrix.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/json.h"
#include "base/random.h"
#include "lab/run/code_version.h"
#include "lab/run/gpu_digest.h"
#include "policy/registry.h"

namespace wm::lab {
namespace {

// A policy with one value for each swept parameter that it has, and the labels that name these values.
struct Variant {
  std::string policy;
  std::map<std::string, std::string> labels;
};

std::vector<Variant> variants(const LabelledPolicy& labelled, const std::vector<Axis>& axes,
                              const std::vector<std::string>& splits) {
  std::vector<Variant> all;
  for (const std::string& s : splits)
    all.push_back({labelled.policy + (labelled.splits == LabelledPolicy::Splits::sms ? ":sms=" : ":blocks=") + s,
                   {{"policy", labelled.label}, {"split", s}}});
  if (labelled.splits == LabelledPolicy::Splits::none)
    all.push_back({labelled.policy, {{"policy", labelled.label}, {"split", ""}}});
  const auto choice = policy::choose(labelled.policy);
  const auto& table = choice->entry->info.parameters;
  for (const Axis& axis : axes) {
    const bool has = std::any_of(table.begin(), table.end(), [&](const auto& p) { return p.name == axis.parameter; });
    std::vector<Variant> longer;
    for (const Variant& v : all) {
      if (!has) {
        longer.push_back(v);
        longer.back().labels[axis.parameter] = "";
        continue;
      }
      for (const std::string& value : axis.values) {
        longer.push_back({v.policy + ":" + axis.parameter + "=" + value, v.labels});
        longer.back().labels[axis.parameter] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

class Expansion {
 public:
  Expansion(const Protocol& p, const std::string& gpu, std::string digest)
      : protocol_(p), gpu_(gpu), digest_(std::move(digest)) {}

  // `goal` and `blocks` apply where they are not null or 0.
  [[nodiscard]] Result<Cell> cell(const Workload& w, const Variant& v, const double* goal, std::uint32_t blocks,
                                  std::uint64_t seed) const {
    Cell c;
    c.labels = v.labels;
    c.labels.insert({{"gpu", gpu_}, {"workload", w.name}, {"group", w.group}, {"kernel", w.kernels[0]}});
    c.labels["beside"] = w.kernels.size() > 1 ? w.kernels[1] : "";
    c.labels["class"] = w.first_class;
    c.labels["processes"] = std::to_string(w.kernels.size());
    c.labels["goal"] = goal == nullptr ? "" : fmt::format("{}", *goal);
    c.labels["blocks"] = blocks == 0 ? "" : std::to_string(blocks);
    c.spec = common();
    c.spec.match_instructions = protocol_.match_instructions;
    c.labels["seed"] = protocol_.seeds.size() > 1 ? std::to_string(seed) : "";
    c.spec.seed = seed;
    Random arrivals(seed);
    auto policy = PolicySpec::parse(v.policy);
    if (!policy) return policy.error();
    c.spec.policy = *std::move(policy);
    for (std::size_t i = 0; i < w.kernels.size(); ++i) {
      KernelSpec k = kernel(w.kernels[i]);
      // A run on the block machine makes its isolated runs by itself, in milliseconds.
      if (protocol_.machine != "block") {
        c.isolated.push_back(common());
        c.isolated.back().kernels = {k};
      } else if (i == 0) {
        k.priority = protocol_.first_priority;
      }
      const auto& with = protocol_.goal_kernels;
      if (goal != nullptr && std::find(with.begin(), with.end(), i) != with.end()) k.goal = *goal;
      k.blocks_per_sm = blocks;
      if (protocol_.arrivals != 0) k.arrive = Cycles{arrivals.below(protocol_.arrivals)};
      c.spec.kernels.push_back(std::move(k));
    }
    RunSpec resolved = c.spec;
    auto full = c.spec.policy.resolved();
    if (!full) return full.error();
    resolved.policy = *std::move(full);
    c.key = key_of(resolved, digest_);
    c.gpu_digest = digest_;
    c.code_version = code_version(resolved.policy.name, c.spec.machine);
    return c;
  }

 private:
  [[nodiscard]] RunSpec common() const {
    RunSpec spec;
    spec.gpu = gpu_;
    spec.cycles = protocol_.cycles;
    spec.machine = protocol_.machine;
    spec.runs = protocol_.runs;
    return spec;
  }

  [[nodiscard]] KernelSpec kernel(const std::string& name) const {
    KernelSpec k;
    k.name = name;
    k.size = protocol_.size;
    // Kernels repeat until the run ends where a number of cycles ends it.
    k.launches = protocol_.cycles != 0 || protocol_.runs != 0 ? 0 : 1;
    k.application = protocol_.machine == "block";
    return k;
  }

  const Protocol& protocol_;
  const std::string& gpu_;
  std::string digest_;
};

// The splits of the SMs, or of the blocks on an SM, with which the policy is run; none where it has no splits.
Result<std::vector<std::string>> splits_of(const LabelledPolicy& policy, const Workload& w, const std::string& gpu,
                                           const Names& names) {
  if (policy.splits == LabelledPolicy::Splits::none) return std::vector<std::string>{};
  if (policy.splits != LabelledPolicy::Splits::sms)
    return names.splits(gpu, w.kernels, policy.splits == LabelledPolicy::Splits::full);
  const auto sms = names.sms(gpu);
  if (!sms) return sms.error();
  std::vector<std::string> splits;
  for (std::uint32_t n = 1; n + w.kernels.size() <= *sms + 1; ++n) splits.push_back(std::to_string(n));
  return splits;
}

// Calls `add` with a workload, a variant, a goal (or null) and a number of blocks (or 0) for every cell on one GPU.
template <class Add>
Result<void> for_each_combination(const Protocol& p, const std::string& gpu, const Names& names, const Add& add) {
  for (const Workload& w : p.workloads)
    for (const LabelledPolicy& l : p.policies) {
      const auto splits = splits_of(l, w, gpu, names);
      if (!splits) return splits.error();
      for (const Variant& v : variants(l, p.parameters, *splits)) {
        if (p.goals.empty() && p.blocks.empty())
          if (auto added = add(w, v, nullptr, 0); !added) return added.error();
        for (const std::uint32_t n : p.blocks)
          if (auto added = add(w, v, nullptr, n); !added) return added.error();
        for (const double& goal : p.goals)
          if (auto added = add(w, v, &goal, 0); !added) return added.error();
      }
    }
  return {};
}

}  // namespace

Row Cell::row() const {
  Row r;
  r.key = key;
  RunSpec resolved = spec;
  if (auto full = spec.policy.resolved()) resolved.policy = *std::move(full);
  r.spec = to_json(resolved).dump();
  r.command = command();
  r.gpu = gpu_digest;
  r.seed = spec.seed;
  r.code_version = code_version;
  return r;
}

Result<Matrix> expand(const Experiment&, const Protocol& p, const Names& names) {
  Matrix m;
  for (const std::string& gpu : p.gpus) {
    const auto text = names.gpu(gpu);
    if (!text) return text.error();
    const std::string digest = gpu_digest(*text);
    m.gpus[digest] = *text;
    const Expansion expansion(p, gpu, digest);
    const auto add = [&](const Workload& w, const Variant& v, const double* goal,
                         std::uint32_t blocks) -> Result<void> {
      for (const std::uint64_t seed : p.seeds) {
        auto cell = expansion.cell(w, v, goal, blocks, seed);
        if (!cell) return cell.error();
        m.cells.push_back(*std::move(cell));
      }
      return {};
    };
    if (auto added = for_each_combination(p, gpu, names, add); !added) return added.error();
  }
  return m;
}

Result<std::size_t> count_cells(const Protocol& p, const Names& names) {
  std::size_t count = 0;
  const auto add = [&](const Workload&, const Variant&, const double*, std::uint32_t) -> Result<void> {
    ++count;
    return {};
  };
  for (const std::string& gpu : p.gpus) {
    if (auto added = for_each_combination(p, gpu, names, add); !added) return added.error();
  }
  return count;
}

}  // namespace wm::lab
