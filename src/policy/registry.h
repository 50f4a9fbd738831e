// All policies by name, and the construction of a policy from a user's text for a machine that it fits.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace wm::policy {

// In the order of their names.
std::span<const Entry> entries();

// By name, or an error that names the nearest.
Result<const Entry*> find(std::string_view name);

// A policy with its parameters, as chosen by a user.
struct Choice {
  const Entry* entry = nullptr;
  Values values;

  // The capabilities it needs of a machine, those of its parameters included.
  [[nodiscard]] Cans needs() const { return entry->info.needs | values.needs(); }
  // "quota:scheme=elastic:epoch=10000", all parameters written out.
  [[nodiscard]] std::string to_string() const;
};

// Reads NAME[:parameter=value]…
Result<Choice> choose(std::string_view text);

// An error if the machine cannot run it: "policy 'quota' cannot run on the block machine: it cannot limit …". There is
// no partial support.
Result<void> fits(const Choice& choice, Cans machine, std::string_view machine_name);

// A fresh policy, for one run, on a machine that it fits.
Result<std::unique_ptr<Policy>> make(const Choice& choice, Cans machine, std::string_view machine_name);

}  // namespace wm::policy
