// The options of clBuildProgram in three groups: those of the preprocessor, those of the language, and the rest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wm::rewrite {

struct BuildOptions {
  std::vector<std::string> preprocessor;  // -DNAME=VALUE, -Ifolder, -UNAME: in order, a word each
  std::vector<std::string> language;      // the -cl- options that change how the source reads
  std::string standard;                   // value of -cl-std=; empty where it is not given
  std::string rest;                       // everything but `preprocessor`, as one string again
};

// Words are parted by blanks; double quotes and backslashes keep them together as a shell's do.
std::vector<std::string> split_build_options(std::string_view text);
BuildOptions parse_build_options(std::string_view text);

}  // namespace wm::rewrite
