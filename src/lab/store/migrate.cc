#include "lab/store/migrate.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/json.h"
#include "base/number.h"
#include "lab/run/gpu_digest.h"

namespace wm::lab {
namespace {

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

Result<KernelSpec> kernel_of_format_1(const std::string& word) {
  KernelSpec kernel;
  auto settings = PolicySpec::parse(word);  // the same syntax: NAME[:key=value]…
  if (!settings) return settings.error();
  kernel.name = settings->name;
  for (const auto& [key, value] : settings->parameters) {
    const auto count = parse_integer<std::uint32_t>(value);
    const auto number = parse_double(value);
    if (key == "launches" && count)
      kernel.launches = *count;
    else if (key == "blocks" && count)
      kernel.blocks_per_sm = *count;
    else if (key == "goal" && number)
      kernel.goal = *number;
    else
      return Error{fmt::format("kernel '{}' has an unknown setting '{}={}'", kernel.name, key, value)};
  }
  return kernel;
}

Result<void> read_option(const std::string& option, const std::string& value, RunSpec& spec) {
  const auto count = parse_integer<std::uint64_t>(value);
  if (option == "--gpu") {
    spec.gpu = value;
  } else if (option == "--kernel") {
    auto kernel = kernel_of_format_1(value);
    if (!kernel) return kernel.error();
    spec.kernels.push_back(*std::move(kernel));
  } else if (option == "--policy") {
    auto policy = PolicySpec::parse(value);
    if (!policy) return policy.error();
    spec.policy = *std::move(policy);
  } else if (option == "--cycles" && count) {
    spec.cycles = *count;
  } else if (option == "--seed" && count) {
    spec.seed = *count;
  } else if (option == "--size") {
    for (KernelSpec& kernel : spec.kernels) kernel.size = value;
  } else {
    return Error{fmt::format("unknown option '{} {}'", option, value)};
  }
  return {};
}

// Parameters that a policy had when format 1 was written and has no more. Its runs did not depend on them: the lab gave
// `oracle` the blocks of each kernel, so that nothing was searched inside the run.
struct FormerParameter {
  const char* policy;
  const char* name;
  const char* only_with;
};
constexpr FormerParameter kFormerParameters[] = {
    {"oracle", "objective", "blocks"}, {"oracle", "settle", "blocks"}, {"oracle", "trial", "blocks"}};

void drop_former_parameters(PolicySpec& policy) {
  const auto has = [&](const char* name) {
    return std::any_of(policy.parameters.begin(), policy.parameters.end(),
                       [&](const auto& p) { return p.first == name && !p.second.empty(); });
  };
  for (const FormerParameter& former : kFormerParameters) {
    if (policy.name != former.policy || !has(former.only_with)) continue;
    std::erase_if(policy.parameters, [&](const auto& p) { return p.first == former.name; });
  }
}

// The row with its new key and specification, or nothing where its command cannot be read.
std::optional<Row> migrated(const RowFormat1& old, const std::map<std::string, std::string>& digests) {
  auto spec = spec_of_format_1(old.row.command);
  if (!spec) return std::nullopt;
  const auto configuration = nlohmann::ordered_json::parse(old.configuration, nullptr, false);
  if (!configuration.is_object() || !configuration.contains("policy") || !configuration["policy"].is_string())
    return std::nullopt;
  auto policy = PolicySpec::parse(configuration["policy"].get<std::string>());
  if (!policy) return std::nullopt;
  drop_former_parameters(*policy);
  spec->policy = *std::move(policy);
  Row row = old.row;
  if (const auto digest = digests.find(row.gpu); digest != digests.end()) row.gpu = digest->second;
  row.spec = to_json(*spec).dump();
  row.key = key_of(*spec, row.gpu);
  return row;
}

}  // namespace

Result<RunSpec> spec_of_format_1(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  if (words.size() < 2 || words[0] != "wm" || words[1] != "sim") return Error{"not a wm sim command: " + command};
  RunSpec spec;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "--match-instructions") {
      spec.match_instructions = true;
      continue;
    }
    if (i + 1 == words.size()) return Error{"an option without a value: " + words[i]};
    if (auto read = read_option(words[i], words[i + 1], spec); !read) return read.error();
    ++i;
  }
  if (spec.kernels.empty()) return Error{"no kernel: " + command};
  return spec;
}

Results migrate_format_1(const std::vector<RowFormat1>& rows, const std::map<std::string, std::string>& gpus) {
  Results results;
  std::map<std::string, std::string> digests;  // new by old
  for (const auto& [old, text] : gpus) {
    digests[old] = gpu_digest(text);
    results.gpus.emplace(digests[old], text);
    results.gpus.emplace(old, text);  // configuration of the rows that keep their old key
  }
  // Done rows are placed first, so that a failed row never takes the key of a done one.
  std::map<std::string, Row> by_key;
  for (const Row::State state : {Row::State::done, Row::State::failed})
    for (const RowFormat1& old : rows) {
      if (old.row.state != state) continue;
      const auto row = migrated(old, digests);
      if (!row || !by_key.emplace(row->key, *row).second) by_key.emplace(old.row.key, old.row);
    }
  for (auto& [key, row] : by_key) results.rows.push_back(std::move(row));
  std::erase_if(results.gpus, [&](const auto& gpu) {
    return digests.contains(gpu.first) && digests.at(gpu.first) != gpu.first &&
           std::none_of(results.rows.begin(), results.rows.end(), [&](const Row& r) { return r.gpu == gpu.first; });
  });
  return results;
}

}  // namespace wm::lab
