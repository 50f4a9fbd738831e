// Checks of every file and folder of a source tree: READMEs, include guards, lengths, links, forbidden words.
#pragma once

#include <filesystem>

#include "structure/source_tree.h"

namespace wm::structure {

// Every module has a README.md of at most a page; a benchmark's kernels and host part begin with a comment.
Violations folders_without_readme(const std::filesystem::path& root);

// Headers have #pragma once; no source or header has 500 lines or more.
Violations unguarded_headers(const std::filesystem::path& root);
Violations long_files(const std::filesystem::path& root);

// Relative links of Markdown pages lead to files or folders of the tree.
Violations broken_links(const std::filesystem::path& root);

// The runtime above the device backends (schedule, session, server, program) names no type, function or constant of
// OpenCL or of the CUDA driver, and includes no header of a backend.
Violations driver_types_above_devices(const std::filesystem::path& root);

// No file names the machine it was written on or work left undone.
Violations forbidden_words(const std::filesystem::path& root);

}  // namespace wm::structure
