// Reads and writes complete files. A written file is complete or absent: it is written to a temporary name and renamed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wm {

// A device such as /dev/zero has no end, so that files above this limit are refused: no text or recording comes near
// it.
constexpr std::size_t kLargestFile = std::size_t{1} << 30;

Result<std::string> read_file(const std::string& path, std::size_t limit = kLargestFile);

Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace wm
