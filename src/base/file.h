// Whole files in and out. A written file is complete or not there: it is written beside its place and then renamed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace wm {

Result<std::string> read_file(const std::string& path);

Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace wm
