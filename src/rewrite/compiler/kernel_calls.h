// Calls of kernels by other functions, which OpenCL C allows and PTX does not.
#pragma once

namespace llvm {
class Module;
}

namespace wm::rewrite {

// Callers of a kernel call a function of the same content instead.
void separate_called_kernels(llvm::Module& module);

}  // namespace wm::rewrite
