// Finds libwarpmux_opencl.so, beside the program or installed.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::cli {

// `asked` is the path that the user gave; empty: the library is searched for.
Result<std::string> find_driver(const std::string& asked);

}  // namespace wm::cli
