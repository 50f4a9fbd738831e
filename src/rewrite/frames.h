// Frames on a pipe, for programs that answer on their standard output: a length in four bytes, then the bytes.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace wm::rewrite {

// nullopt at the end of the input, or after an incomplete frame.
std::optional<std::string> read_frame(std::FILE* from);
bool write_frame(std::FILE* to, const std::string& bytes);

}  // namespace wm::rewrite
