#include "lab/store/parse_json.h"

#include "base/json.h"

namespace wm::lab {

using Json = nlohmann::ordered_json;

Json parse_json(std::string_view text) { return Json::parse(text.data(), text.data() + text.size(), nullptr, false); }

Json parse_json_or_throw(std::string_view text) { return Json::parse(text.data(), text.data() + text.size()); }

}  // namespace wm::lab
