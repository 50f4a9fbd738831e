// Classes that are too large: more than 25 fields, or member functions in more than two source files.
//
// exceptions.txt names those that are allowed to be, with their present size, one per line:
//
//     fields src/gpu/gpu_config.h SmConfig 28
//     sources src/exec/warp.h Warp 5
//     cycle src/lab/cell src/lab/corun
//
// Exceptions may only shrink: a class that grew, one that became smaller than its line says, and a line that is not
// needed any more are violations.
#pragma once

#include <filesystem>

#include "structure/source_tree.h"

namespace wm::structure {

// "fields PATH CLASS COUNT" and "sources PATH CLASS COUNT" of every class below src/ that exceeds a limit, sorted.
std::vector<std::string> large_classes(const std::filesystem::path& root);

// Compares large classes and include cycles with the lines of `exceptions`.
Violations unexpected(const std::vector<std::string>& found, const std::filesystem::path& exceptions);

}  // namespace wm::structure
