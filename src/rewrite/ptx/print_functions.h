// Calls of printf in PTX of OpenCL's compilers, for the CUDA driver.
//
// Both drivers offer vprintf, which takes a format and a block of arguments. OpenCL's knows conversions of vectors such
// as %v4f, and returns 0; CUDA's prints wrong numbers for vectors, and returns the number of arguments. So kernels call
// functions of ours, which call CUDA's with another format and another block.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

struct PrintingModule {
  ptx::Module module;
  std::string prefix;  // the names of our functions begin with it, and no others
};

// Replaces the calls whose format does not matter, or is known and has at most 32 values, as the CUDA driver allows.
[[nodiscard]] Result<PrintingModule> with_print_functions(ptx::Module module);

// Whether the kernel, or a function that it calls, has a call that was not replaced.
[[nodiscard]] bool has_other_prints(const PrintingModule& printing, std::uint32_t kernel);

}  // namespace wm::rewrite
