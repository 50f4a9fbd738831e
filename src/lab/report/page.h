// One self-contained HTML file, made from a document that web/README.md describes. It needs no network.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace wm::lab {

// Returns an error where the build could not bundle the page because npm was missing.
Result<std::string> page_of(const nlohmann::ordered_json& document);
Result<void> write_page(const std::string& file, const nlohmann::ordered_json& document);

}  // namespace wm::lab
