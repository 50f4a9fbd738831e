// Loads through __constant pointers that a launch passes.
//
// OpenCL's compiler reads such memory with ld.const, and its driver places the buffers so that this works. The CUDA
// driver passes addresses of global memory, so that these loads must be ld.global. Loads of the module's own constants
// stay as they are.
#pragma once

#include <optional>
#include <string>

#include "ptx/ir.h"

namespace wm::rewrite {

// Makes the parameters `.ptr .const` pointers to global memory. The reason why that cannot be done: a load whose
// address may come from a parameter or from one of the module's constants.
std::optional<std::string> move_constant_parameters(ptx::Function& kernel);

}  // namespace wm::rewrite
