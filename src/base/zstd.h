// Compressed text in the format of Zstandard, as `zstd` writes and reads it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace wm {

// Both are errors in a build without libzstd.
Result<std::string> compress_zstd(std::string_view text);
// A text of more than `max_bytes` is an error, as are damaged data and more than one frame.
Result<std::string> decompress_zstd(std::string_view data, std::size_t max_bytes = std::size_t{1} << 30);

}  // namespace wm
