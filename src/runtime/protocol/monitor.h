// Requesting the status of a daemon.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::runtime {

// The JSON document that `wm status` shows.
Result<std::string> request_status(const std::string& socket);

// Sends a request (server/control.h) to the daemon and returns its answer.
Result<std::string> request_control(const std::string& socket, const std::string& request);

}  // namespace wm::runtime
