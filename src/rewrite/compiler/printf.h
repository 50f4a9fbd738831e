// Calls of printf in OpenCL C, which the CUDA driver offers as vprintf with a block of arguments.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace wm::rewrite {

// Replaces all calls of printf. Returns why one cannot be replaced, or nothing.
std::string lower_printf(llvm::Module& module);

}  // namespace wm::rewrite
