// Where the tests find the source tree and the build, as absolute paths.
//
// The folders are functions, not macros, so that only one object file depends on them and a compiler cache serves
// several checkouts.
#pragma once

#include <string>

namespace wm {

// The path of a file below the root of the source tree, or the root itself.
std::string source_path(const std::string& below_root = "");

// The path of a file below the build folder.
std::string binary_path(const std::string& below_root);

}  // namespace wm
