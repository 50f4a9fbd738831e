// One kernel of a CUDA module that is loaded already, as a module of its own beside it.
//
// The new module has the kernel and the functions that it calls. Variables of the device are those of the loaded
// module: every use becomes the address that the driver gives for the variable's name, so that both modules see the
// same memory. Constants are read as global memory then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

// The address of a variable of the loaded module; empty: the driver does not know the name.
using AddressOf = std::function<std::optional<std::uint64_t>(const std::string& variable)>;

// An error: the reason why the kernel must run as it is.
Result<ptx::Module> separate_kernel(const ptx::Module& module, const std::string& kernel, const AddressOf& address_of);

}  // namespace wm::rewrite
