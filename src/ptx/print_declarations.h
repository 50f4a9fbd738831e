// Parts of the printer: variables with their values, parameters, a function's register declarations.
#pragma once

#include <string>
#include <vector>

#include "ptx/ir.h"

namespace wm::ptx {

std::string_view keyword(Linkage linkage);  // ".visible " or nothing

// ".param .align 8 .b8 x[24]", without the semicolon.
std::string print_parameter(const Variable& variable);
// ".global .align 4 .u32 x[3] = {1, 2, 3};"
std::string print_variable(const Variable& variable);
// The .reg lines of the registers the body uses: ranges where the names allow it.
std::string print_registers(const Module& module, const Function& function);

}  // namespace wm::ptx
