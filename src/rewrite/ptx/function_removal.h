// Removes functions from a module. Calls name functions by their index, so those that stay are numbered anew.
#pragma once

#include <vector>

#include "ptx/ir.h"

namespace wm::rewrite {

// `removed` has an element for each function. No function that stays may name one that is removed.
void remove_functions(ptx::Module& module, const std::vector<bool>& removed);

}  // namespace wm::rewrite
