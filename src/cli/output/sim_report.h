// The result of a co-run as text and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "lab/run/corun.h"

namespace wm::cli {

std::string text_of(const lab::CorunResult& result);
nlohmann::ordered_json json_of(const lab::CorunResult& result);

}  // namespace wm::cli
