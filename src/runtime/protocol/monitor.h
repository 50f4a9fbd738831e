// Requesting the status of a daemon.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::runtime {

// The JSON document that `wm status` shows. `is_refused`, where it is given, says whether a daemon answered and
// refused, so that it would refuse again.
Result<std::string> request_status(const std::string& socket, bool* is_refused = nullptr);

// Sends a request (server/control.h) to the daemon and returns its answer.
Result<std::string> request_control(const std::string& socket, const std::string& request);

}  // namespace wm::runtime
