// A row as JSON, in the files that stores are exported to and in files of rows.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "lab/store/row.h"

namespace wm::lab {

nlohmann::ordered_json json_from(const Row& row);
// Throws nlohmann::json::exception where the JSON is no row.
Row row_from_json(const nlohmann::ordered_json& json);

}  // namespace wm::lab
