#include "lab/matrix.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/json.h"
#include "lab/code_version.h"
#include "lab/digest.h"
#include "policy/registry.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

// A policy with one value of every parameter that is swept and that it has; `labels` gets the values.
struct Variant {
  std::string policy;
  std::map<std::string, std::string> labels;
};

std::vector<Variant> variants(const LabelledPolicy& labelled, const std::vector<Axis>& axes,
                              const std::vector<std::string>& splits) {
  std::vector<Variant> all;
  for (const std::string& s : splits)
    all.push_back({labelled.policy + ":blocks=" + s, {{"policy", labelled.label}, {"split", s}}});
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

std::vector<std::string> limits(const Protocol& p) {
  std::vector<std::string> words;
  if (p.cycles != 0) words.insert(words.end(), {"--cycles", std::to_string(p.cycles)});
  words.insert(words.end(), {"--size", p.size});
  return words;
}

// Kernels go on until the run ends, where something else ends it.
std::string kernel_word(const std::string& kernel, const Protocol& p) {
  return p.cycles != 0 ? kernel + ":launches=0" : kernel;
}

class Expansion {
 public:
  Expansion(const Protocol& p, const std::string& gpu, std::string digest)
      : protocol_(p), gpu_(gpu), digest_(std::move(digest)) {}

  [[nodiscard]] Cell cell(const Workload& w, const Variant& v, const double* goal, std::uint32_t blocks) const {
    Cell c;
    c.labels = v.labels;
    c.labels.insert({{"gpu", gpu_}, {"workload", w.name}, {"group", w.group}, {"kernel", w.kernels[0]}});
    c.labels["beside"] = w.kernels.size() > 1 ? w.kernels[1] : "";
    c.labels["goal"] = goal == nullptr ? "" : fmt::format("{}", *goal);
    c.labels["blocks"] = blocks == 0 ? "" : std::to_string(blocks);
    c.words = {"sim", "--gpu", gpu_};
    for (std::size_t i = 0; i < w.kernels.size(); ++i) {
      std::string word = kernel_word(w.kernels[i], protocol_);
      const auto& with = protocol_.goal_kernels;
      if (goal != nullptr && std::find(with.begin(), with.end(), i) != with.end())
        word += fmt::format(":goal={}", *goal);
      if (blocks != 0) word += fmt::format(":blocks={}", blocks);
      c.words.insert(c.words.end(), {"--kernel", word});
      c.alone.push_back(alone(w.kernels[i]));
    }
    c.words.insert(c.words.end(), {"--policy", v.policy});
    const auto rest = limits(protocol_);
    c.words.insert(c.words.end(), rest.begin(), rest.end());
    if (protocol_.match_instructions) c.words.emplace_back("--match-instructions");
    c.words.insert(c.words.end(), {"--seed", std::to_string(protocol_.seed)});
    finish(c, v.policy);
    return c;
  }

 private:
  [[nodiscard]] std::string alone(const std::string& kernel) const {
    std::string words = fmt::format("sim --gpu {} --kernel {} --alone", gpu_, kernel_word(kernel, protocol_));
    for (const std::string& w : limits(protocol_)) words += " " + w;
    return words;
  }

  void finish(Cell& c, const std::string& policy) const {
    const auto choice = policy::choose(policy);
    Digest key;
    key.add(digest_).add(choice->to_string());
    // The policy was added with every parameter; the word leaves defaults out.
    for (std::size_t i = 0; i < c.words.size(); ++i)
      if (i == 0 || c.words[i - 1] != "--policy") key.add(c.words[i]);
    c.key = key.hex();
    c.gpu_digest = digest_;
    c.seed = protocol_.seed;
    c.code_version = code_version(choice->entry->info.name);
    c.configuration = Json{
        {"gpu", gpu_},
        {"workload", c.labels.at("workload")},
        {"policy", choice->to_string()},
        {"cycles", protocol_.cycles},
        {"match_instructions", protocol_.match_instructions},
        {"size",
         protocol_.size}}.dump();
  }

  const Protocol& protocol_;
  const std::string& gpu_;
  std::string digest_;
};

}  // namespace

std::string Cell::command() const {
  std::string text = "wm";
  for (const std::string& w : words) {
    const bool plain = w.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:./,+") ==
                       std::string::npos;
    text += plain ? " " + w : " '" + w + "'";
  }
  return text;
}

Row Cell::row() const {
  Row r;
  r.key = key;
  r.command = command();
  r.gpu = gpu_digest;
  r.configuration = configuration;
  r.seed = seed;
  r.code_version = code_version;
  return r;
}

Result<Matrix> expand(const Experiment&, const Protocol& p, const Names& names) {
  Matrix m;
  for (const std::string& gpu : p.gpus) {
    const auto text = names.gpu(gpu);
    if (!text) return text.error();
    const std::string digest = Digest{}.add(*text).hex();
    m.gpus[digest] = *text;
    const Expansion expansion(p, gpu, digest);
    for (const Workload& w : p.workloads)
      for (const LabelledPolicy& l : p.policies) {
        std::vector<std::string> splits;
        if (l.splits != LabelledPolicy::Splits::none) {
          auto found = names.splits(gpu, w.kernels, l.splits == LabelledPolicy::Splits::full);
          if (!found) return found.error();
          splits = *std::move(found);
        }
        for (const Variant& v : variants(l, p.parameters, splits)) {
          if (p.goals.empty() && p.blocks.empty()) m.cells.push_back(expansion.cell(w, v, nullptr, 0));
          for (const std::uint32_t n : p.blocks) m.cells.push_back(expansion.cell(w, v, nullptr, n));
          for (const double& goal : p.goals) m.cells.push_back(expansion.cell(w, v, &goal, 0));
        }
      }
  }
  return m;
}

}  // namespace wm::lab
