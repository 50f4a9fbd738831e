#include "runtime/program/device_macros.h"

#include <fmt/format.h>
#include <sstream>

namespace wm::runtime {
namespace {

constexpr int kValueBits = 63;
constexpr std::size_t kMaxKnown = 4096;  // clients choose the options, so the number is limited

std::string empty_kernel(const std::string& name) { return "kernel void wm__" + name + "() {}\n"; }

}  // namespace

// Builds a program whose kernel names tell which macros are defined and which bits their values have.
std::optional<std::vector<DeviceMacros::Macro>> DeviceMacros::probe(const std::string& options,
                                                                    const std::vector<Query>& queries) const {
  std::string source = empty_kernel("");
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto& [name, with_value] = queries[i];
    source += fmt::format("#ifdef {}\n{}", name, empty_kernel(std::to_string(i)));
    if (with_value) source += fmt::format("#if ({} + 0) >= 0\n{}", name, empty_kernel(fmt::format("{}_v", i)));
    for (int bit = 0; with_value && bit < kValueBits; ++bit) {
      source +=
          fmt::format("#if (({} + 0) >> {}) & 1\n{}#endif\n", name, bit, empty_kernel(fmt::format("{}_{}", i, bit)));
    }
    source += with_value ? "#endif\n#endif\n" : "#endif\n";
  }
  const auto names = kernel_names(source, options);
  if (!names) return std::nullopt;
  std::istringstream kernels(*names);
  std::vector<Macro> macros(queries.size());
  for (std::size_t i = 0; i < macros.size(); ++i) macros[i].with_value = queries[i].with_value;
  for (std::string name; std::getline(kernels, name, ';');) {
    std::size_t index = 0;
    char suffix = 0;
    int bit = 0;
    const int read = std::sscanf(name.c_str(), "wm__%zu_%c", &index, &suffix);
    if (read < 1 || index >= macros.size()) continue;
    Macro& macro = macros[index];
    macro.defined = true;
    if (read == 2 && !macro.value) macro.value = 0;
    if (std::sscanf(name.c_str(), "wm__%zu_%d", &index, &bit) == 2) *macro.value |= std::uint64_t{1} << bit;
  }
  return macros;
}

std::optional<std::string> DeviceMacros::kernel_names(const std::string& source, const std::string& options) const {
  const auto program = compilation_.program_from_source(source);
  if (!program.object || compilation_.build(*program.object, options) != status::kSuccess) return std::nullopt;
  return compilation_.kernel_names(*program.object);
}

void DeviceMacros::determine(const std::string& options, const std::vector<Query>& queries) {
  if (queries.empty()) return;
  if (const auto macros = probe(options, queries)) {
    for (std::size_t i = 0; i < macros->size(); ++i) known_[{options, queries[i].name}] = (*macros)[i];
    return;
  }
  for (const Query& query : queries) {
    auto macro = probe(options, {query});
    if (!macro && query.with_value) macro = probe(options, {{query.name, false}});
    if (!macro) continue;
    macro->front().with_value = query.with_value;
    known_[{options, query.name}] = macro->front();
  }
}

std::optional<std::size_t> DeviceMacros::correct(rewrite::Device& device, const std::string& options,
                                                 const std::vector<rewrite::Assumption>& assumptions) {
  const std::lock_guard lock(mutex_);
  if (known_.size() > kMaxKnown) known_.clear();
  std::vector<Query> unknown;
  for (const auto& a : assumptions) {
    const auto it = known_.find({options, a.name});
    if (it == known_.end() || (a.valued && !it->second.with_value)) unknown.push_back({a.name, a.valued});
  }
  determine(options, unknown);
  std::size_t corrected = 0;
  for (const auto& a : assumptions) {
    const auto it = known_.find({options, a.name});
    if (it == known_.end()) return std::nullopt;
    const Macro& macro = it->second;
    const std::string value = macro.value ? std::to_string(*macro.value) : "";
    const bool same = a.defined == macro.defined && (!a.defined || !a.valued || (macro.value && a.value == value));
    if (same) continue;
    if (macro.defined && a.valued && !macro.value) return std::nullopt;
    ++corrected;
    if (!macro.defined) {
      device.undefined.push_back(a.name);
    } else {
      device.macros.push_back(a.name + "=" + (macro.value ? value : "1"));
    }
  }
  return corrected;
}

}  // namespace wm::runtime
