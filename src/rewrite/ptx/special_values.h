// Special registers replaced by values that the rewritten kernel chooses, in the kernel and in the functions it calls.
//
// A function that reads one of the special registers, or calls a function that does, gets a parameter for each; every
// call passes the caller's own values on.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "rewrite/ptx/function_editor.h"

namespace wm::rewrite {

using SpecialSet = std::set<ptx::Special>;

// By function of the module: the special registers that it or a function it calls reads.
struct SpecialNeeds {
  std::vector<SpecialSet> by_function;
};

// An error names the function whose callers are not known, so that no value could be passed to it.
Result<SpecialNeeds> find_special_needs(const ptx::Module& module, std::span<const ptx::Special> replaced);

// The registers that hold the values in one function.
using SpecialRegisters = std::map<ptx::Special, build::Reg>;

// Replaces the reads of a function's body and passes the values on in its calls.
void use_special_values(FunctionEditor& editor, const SpecialNeeds& needs, const SpecialRegisters& values);

// Gives every device function that needs values its parameters and uses them. Kernels are left to the caller.
void pass_special_values(ptx::Module& module, const SpecialNeeds& needs);

}  // namespace wm::rewrite
