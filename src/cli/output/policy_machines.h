// The machines on which a policy runs.
#pragma once

#include <string>
#include <vector>

#include "policy/registry.h"

namespace wm::cli {

// The names of the machines that have every capability the policy needs with its default parameters.
std::vector<std::string> machines_of(const policy::Info& info);

// Whether the policy can arbitrate unmodified CUDA programs (`wm serve --cuda`).
bool arbitrates_programs(const policy::Info& info);

}  // namespace wm::cli
