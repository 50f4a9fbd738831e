// The kernel properties that OpenCL queries return, and an estimate of the kernel's work, from the syntax tree.
#pragma once

#include "rewrite/worker/facts.h"

namespace clang {
class FunctionDecl;
}

namespace wm::rewrite {

// Fills in arguments and attributes as clGetKernelArgInfo and CL_KERNEL_ATTRIBUTES tell them; adds a reason where an
// argument (a pipe) keeps the kernel from being rewritten.
void describe_kernel(const clang::FunctionDecl& kernel, Function& out);

// An estimate of the LLVM instructions of a function's own body after promotion to registers: operations, loads,
// stores, address computations, conversions, branches and calls, each once however often a loop repeats it.
std::uint32_t count_instructions(const clang::FunctionDecl& function);

}  // namespace wm::rewrite
