// The options of clBuildProgram, clCompileProgram and clLinkProgram as arguments for clang.
#pragma once

#include <string>
#include <vector>

#include "rewrite/compile_request.h"

namespace wm::rewrite {

struct CompilerOptions {
  std::vector<std::string> arguments;  // for clang's front end
  bool library = false;                // -create-library
  std::string refusal;                 // why the options are invalid; empty where they are not
};

CompilerOptions read_compiler_options(CompileRequest::Kind kind, const std::string& text);

}  // namespace wm::rewrite
