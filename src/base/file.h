// Reads and writes complete files. A written file is complete or absent: it is written to a temporary name and renamed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wm {

// The file up to `limit` bytes. A caller that knows how many it needs is safe from devices, which have no end.
Result<std::string> read_file(const std::string& path, std::size_t limit = std::string::npos);

Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace wm
