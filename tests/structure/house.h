// The rules of the house, as checks over a source tree: who may include whom, and what every folder and file owes.
//
// Each check returns one line per offence, "src/ptx/a.cc:3: ptx (floor 1) includes gpu (floor 1)", sorted by path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace wm::structure {

using Offences = std::vector<std::string>;

// A room includes rooms of lower floors only; the zoo includes base and gpu only; a room must have a floor.
Offences wrong_includes(const std::filesystem::path& root);

// Every room has a README.md, of less than a page; a benchmark's kernels and host part begin with what they are.
Offences folders_without_readme(const std::filesystem::path& root);

// Headers guard themselves with #pragma once; no source or header has 500 lines or more.
Offences unguarded_headers(const std::filesystem::path& root);
Offences long_files(const std::filesystem::path& root);

// No file speaks of the machine it was written on, or of work left undone.
Offences forbidden_words(const std::filesystem::path& root);

}  // namespace wm::structure
