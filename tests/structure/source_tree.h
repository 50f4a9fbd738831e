// Reading a source tree: the files of a folder in a fixed order, their lines, and their includes.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wm::structure {

// One line per violation, "src/ptx/a.cc:3: …", sorted by path.
using Violations = std::vector<std::string>;

// Files below root/folder as sorted paths relative to root. Build folders and .git are skipped.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& root, const std::string& folder);

// The sources and headers of all folders that hold code.
std::vector<std::filesystem::path> code_files(const std::filesystem::path& root);

// Folders directly inside root/parent, sorted, relative to root.
std::vector<std::filesystem::path> folders_of(const std::filesystem::path& root, const std::string& parent);

bool is_code(const std::filesystem::path& path);

std::string read_text(const std::filesystem::path& path);

// Calls `visit` with the number (from 1) and the text of every line.
void for_each_line(const std::filesystem::path& path, const std::function<void(int, std::string_view)>& visit);

// The path in `#include "path"`, if the line is such an include.
std::optional<std::string> included_path(std::string_view line);

// Whether text[at, at + length) is not part of a longer identifier.
bool is_whole_word(std::string_view text, std::size_t at, std::size_t length);

}  // namespace wm::structure
