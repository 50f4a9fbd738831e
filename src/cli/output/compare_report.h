// A comparison of policies as text and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "lab/run/compare.h"

namespace wm::cli {

// One row per policy, best first, then the policies that were left out, with reasons.
std::string text_of(const lab::Comparison& comparison);
// {"schema":1, "items":[as `wm sim --json`, with "name"…], "unfit":[{"name", "detail"}…]}
nlohmann::ordered_json json_of(const lab::Comparison& comparison);

}  // namespace wm::cli
