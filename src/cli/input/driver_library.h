// Where libwarpmux_opencl.so is: beside the program, or installed.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::cli {

// `asked`: a path of the user's; empty: look for it.
Result<std::string> find_driver(const std::string& asked);

}  // namespace wm::cli
