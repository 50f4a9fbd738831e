// Asking a daemon how it is.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::runtime {

// The document of `wm status`.
Result<std::string> ask_status(const std::string& socket);

}  // namespace wm::runtime
