#include "runtime/schedule/device_defaults.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace wm::runtime {
namespace {

struct Default {
  std::string_view parameter, value;
};
constexpr std::array kDefaults{Default{"epoch", "2000000"},  Default{"profile", "2000000"},
                               Default{"warmup", "2000000"}, Default{"sample", "2000000"},
                               Default{"first_ipc", "10"},   Default{"pause", "2000000"}};

bool is_given(const std::string& text, std::string_view parameter) {
  return text.find(":" + std::string(parameter) + "=") != std::string::npos;
}

}  // namespace

Result<policy::Choice> choose_for_device(const std::string& text) {
  const auto choice = policy::choose(text);
  if (!choice) return choice;
  const auto& known = choice->entry->info.parameters;
  std::string all = text;
  for (const Default& d : kDefaults) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const policy::Parameter& p) { return p.name == d.parameter; });
    if (is_known && !is_given(text, d.parameter)) all.append(":").append(d.parameter).append("=").append(d.value);
  }
  return policy::choose(all);
}

}  // namespace wm::runtime
