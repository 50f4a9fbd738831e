// The result of a run on the block machine as text and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "lab/run/block_run.h"

namespace wm::cli {

std::string text_of(const lab::BlockRunResult& result);
nlohmann::ordered_json json_of(const lab::BlockRunResult& result);

}  // namespace wm::cli
