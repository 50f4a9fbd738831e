// Reads and writes complete files. A written file is complete or absent: it is written to a temporary name and renamed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace wm {

Result<std::string> read_file(const std::string& path);

Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace wm
