// Modules linked with the built-in functions, optimised and written as PTX.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace llvm {
class Module;
}

namespace wm::rewrite {

struct BuiltinLibraries {
  std::string own;   // functions that differ from the library's or that it lacks, as bitcode; these come first
  std::string file;  // libclc, as bitcode
};

Result<std::string> make_ptx(std::unique_ptr<llvm::Module> module, const BuiltinLibraries& builtins,
                             const std::string& target);

}  // namespace wm::rewrite
