// Finds the libraries that applications load, beside the program or installed.
#pragma once

#include <string>

#include "base/result.h"

namespace wm::cli {

// `asked` is the path that the user gave; empty: the library is searched for.
Result<std::string> find_client_library(const std::string& asked);

// The folder with libcuda.so.1 of the simulated GPU; `asked` likewise.
Result<std::string> find_simulated_driver(const std::string& asked);

// libcuda.so.1 that forwards to the machine's driver; `asked` is its folder.
Result<std::string> find_forwarding_driver(const std::string& asked);

}  // namespace wm::cli
