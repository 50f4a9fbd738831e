// Runs a program in place of this one: it has the terminal, and signals that are sent to this process reach it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wm::cli {

// Waits for the program and returns its exit code, or 128 + the number of the signal that ended it. SIGTERM, SIGINT,
// SIGHUP and SIGQUIT are forwarded, to it and to the processes that it started in this process group. The program gets
// SIGTERM if this process dies, so that it never outlives `wm`.
Result<int> run_in_foreground(const std::vector<std::string>& command,
                              const std::vector<std::pair<std::string, std::string>>& set_variables,
                              const std::vector<std::string>& unset_variables);

}  // namespace wm::cli
