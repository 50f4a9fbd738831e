// The intervals of a run as text and as JSON, which `wm sim --stats` adds.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "lab/run/corun.h"
#include "lab/run/rates.h"

namespace wm::cli {

std::string text_of(const lab::CorunResult& run, const std::vector<lab::IntervalRates>& intervals);
nlohmann::ordered_json json_of(const lab::CorunResult& run, const std::vector<lab::IntervalRates>& intervals);

}  // namespace wm::cli
