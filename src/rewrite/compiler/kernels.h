// The kernels of a module, as clang's metadata describes them.
#pragma once

#include <string>
#include <vector>

#include "rewrite/compile_request.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace wm::rewrite {

[[nodiscard]] bool is_kernel(const llvm::Function& function);
std::vector<CompiledKernel> kernels_of(const llvm::Module& module);
// Why a kernel cannot be compiled, a line each; empty where all can.
std::string unsupported_parameters(const std::vector<CompiledKernel>& kernels);

}  // namespace wm::rewrite
