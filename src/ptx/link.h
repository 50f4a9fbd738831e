// Links modules that were compiled separately (nvcc -rdc=true) into one.
#pragma once

#include <vector>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::ptx {

// Declarations refer to the definition of their name in another module; those of which there is none stay, once. A
// weak or common definition yields to another one, of two weak ones the first counts. Names that are internal to a
// module and occur in another one too get a suffix. An error names a symbol that two modules define.
Result<Module> link(std::vector<Module> modules);

}  // namespace wm::ptx
