// Functions of a module that cannot be used, because the parser refused their body (parse.h, OnUnsupported) or the body
// of a function that they name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

struct RefusedFunction {
  std::string name;
  bool entry = false;
  Error reason;
};

// Removes them, so that the rest of the module can be printed and rewritten. An error names a variable that holds the
// address of one, since no variable is removed.
Result<std::vector<RefusedFunction>> remove_refused_functions(ptx::Module& module, const std::string& file);

}  // namespace wm::rewrite
