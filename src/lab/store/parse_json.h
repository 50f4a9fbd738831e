// JSON text of results into documents. Results are megabytes of text: the parser for them is instantiated in one
// optimised source, for a kind of input that no other source uses, so that the linker cannot replace it by another's.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace wm::lab {

// A document that is_discarded() where the text is not JSON.
nlohmann::ordered_json parse_json(std::string_view text);
// Throws nlohmann::json::exception where the text is not JSON.
nlohmann::ordered_json parse_json_or_throw(std::string_view text);

}  // namespace wm::lab
