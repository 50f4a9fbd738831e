// The repairs change code that LLVM 19 or libclc would make wrong; recursion, which cannot be repaired, is refused.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace wm::rewrite {

// LLVM's code generator loads 16 bytes at once whatever their alignment, which faults where the address is not a
// multiple of 16: such loads become two.
void split_unaligned_loads(llvm::Module& module);

// libclc's saturating conversions leave the result of a NaN open, even beyond the range of the type; OpenCL wants 0.
void convert_nan_to_zero(llvm::Module& module);

// libclc reads its table of the bits of 2/pi (for sines of large numbers) as words of 16 bytes: the table must begin at
// a multiple of 16 bytes and end at one.
void align_table_of_pi(llvm::Module& module);

// A line for every function that calls itself, directly or through others, which OpenCL C forbids and clang accepts.
std::string recursive_functions(llvm::Module& module);

}  // namespace wm::rewrite
