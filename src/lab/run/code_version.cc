#include "lab/run/code_version.h"

namespace wm::lab {

// Written by the build: one "name digest" per line, the machine first.
extern const char* const kSourceDigests;

namespace {

std::string_view digest_of(std::string_view name) {
  std::string_view rest = kSourceDigests;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (line.substr(0, space) == name) return line.substr(space + 1);
  }
  return {};
}

}  // namespace

std::string_view machine_version(std::string_view machine) {
  return digest_of(machine == "block" ? "block" : "machine");
}

std::string code_version(std::string_view policy, std::string_view machine) {
  std::string version(machine_version(machine));
  const std::string_view own = digest_of(policy);
  if (!own.empty()) version.append("-").append(own);
  return version;
}

}  // namespace wm::lab
