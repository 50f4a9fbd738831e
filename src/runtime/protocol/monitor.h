// Requesting the status of a daemon.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::runtime {

// The JSON document that `wm status` shows.
Result<std::string> request_status(const std::string& socket);

}  // namespace wm::runtime
