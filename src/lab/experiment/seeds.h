// The seeds of an experiment: `seed: 7` is one, `seeds: 5` the seeds 1 to 5, and `seeds: [3, 5, 8]` names them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/yaml.h"

namespace wm::lab {

// Replaces `seeds` with what stands under `key`, "seed" or "seeds".
Result<void> read_seeds(const yaml::Value& value, const std::string& key, std::vector<std::uint64_t>& seeds);

}  // namespace wm::lab
