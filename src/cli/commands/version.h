// The version of the program, "wm 0.2.0 (commit)", as `wm --version` prints it. A build outside a git checkout has no
// commit.
#pragma once

#include <string>

namespace wm::cli {

std::string version();

}  // namespace wm::cli
