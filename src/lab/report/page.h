// One self-contained HTML file for people, from a document as web/README.md describes it. It needs no network.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace wm::lab {

// An error where the build could not bundle the page (no npm): it says so.
Result<std::string> page_of(const nlohmann::ordered_json& document);
Result<void> write_page(const std::string& file, const nlohmann::ordered_json& document);

}  // namespace wm::lab
