#include "runtime/program/device_macros.h"

#include <fmt/format.h>
#include <sstream>

#include "runtime/session/objects.h"

namespace wm::runtime {
namespace {

constexpr int kBits = 63;

std::string kernel(const std::string& name) { return "kernel void wm__" + name + "() {}\n"; }

}  // namespace

// Kernels whose names say what is defined, and which bits its value has.
std::optional<std::vector<DeviceMacros::Macro>> DeviceMacros::probe(const std::string& options,
                                                                    const std::vector<Question>& questions) const {
  std::string source = kernel("");
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& [name, valued] = questions[i];
    source += fmt::format("#ifdef {}\n{}", name, kernel(std::to_string(i)));
    if (valued) source += fmt::format("#if ({} + 0) >= 0\n{}", name, kernel(fmt::format("{}_v", i)));
    for (int bit = 0; valued && bit < kBits; ++bit) {
      source += fmt::format("#if (({} + 0) >> {}) & 1\n{}#endif\n", name, bit, kernel(fmt::format("{}_{}", i, bit)));
    }
    source += valued ? "#endif\n#endif\n" : "#endif\n";
  }
  const auto names = kernels_of(source, options);
  if (!names) return std::nullopt;
  std::istringstream kernels(*names);
  std::vector<Macro> macros(questions.size());
  for (std::size_t i = 0; i < macros.size(); ++i) macros[i].valued = questions[i].valued;
  for (std::string name; std::getline(kernels, name, ';');) {
    std::size_t index = 0;
    char mark = 0;
    int bit = 0;
    const int read = std::sscanf(name.c_str(), "wm__%zu_%c", &index, &mark);
    if (read < 1 || index >= macros.size()) continue;
    Macro& macro = macros[index];
    macro.defined = true;
    if (read == 2 && !macro.value) macro.value = 0;
    if (std::sscanf(name.c_str(), "wm__%zu_%d", &index, &bit) == 2) *macro.value |= std::uint64_t{1} << bit;
  }
  return macros;
}

std::optional<std::string> DeviceMacros::kernels_of(const std::string& source, const std::string& options) const {
  const char* text = source.c_str();
  const std::size_t length = source.size();
  const cl_program made = native_.cl.CreateProgramWithSource(native_.context, 1, &text, &length, nullptr);
  if (made == nullptr) return std::nullopt;
  const Native_<cl_program> program(made, native_.cl.ReleaseProgram);
  if (native_.cl.BuildProgram(made, 1, &native_.device, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  std::vector<std::byte> said;
  const cl_int status = info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return native_.cl.GetProgramInfo(made, CL_PROGRAM_KERNEL_NAMES, room, value, size);
      },
      said);
  if (status != CL_SUCCESS || said.empty()) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(said.data()), said.size() - 1);
}

void DeviceMacros::ask(const std::string& options, const std::vector<Question>& questions) {
  if (questions.empty()) return;
  if (const auto macros = probe(options, questions)) {
    for (std::size_t i = 0; i < macros->size(); ++i) known_[{options, questions[i].name}] = (*macros)[i];
    return;
  }
  for (const Question& question : questions) {
    auto macro = probe(options, {question});
    if (!macro && question.valued) macro = probe(options, {{question.name, false}});
    if (!macro) continue;
    macro->front().valued = question.valued;
    known_[{options, question.name}] = macro->front();
  }
}

std::optional<std::size_t> DeviceMacros::correct(rewrite::Device& device, const std::string& options,
                                                 const std::vector<rewrite::Assumption>& assumptions) {
  const std::lock_guard lock(mutex_);
  std::vector<Question> unknown;
  for (const auto& a : assumptions) {
    const auto it = known_.find({options, a.name});
    if (it == known_.end() || (a.valued && !it->second.valued)) unknown.push_back({a.name, a.valued});
  }
  ask(options, unknown);
  std::size_t others = 0;
  for (const auto& a : assumptions) {
    const auto it = known_.find({options, a.name});
    if (it == known_.end()) return std::nullopt;
    const Macro& macro = it->second;
    const std::string value = macro.value ? std::to_string(*macro.value) : "";
    const bool same = a.defined == macro.defined && (!a.defined || !a.valued || (macro.value && a.value == value));
    if (same) continue;
    if (macro.defined && a.valued && !macro.value) return std::nullopt;
    ++others;
    if (!macro.defined) {
      device.undefined.push_back(a.name);
    } else {
      device.macros.push_back(a.name + "=" + (macro.value ? value : "1"));
    }
  }
  return others;
}

}  // namespace wm::runtime
