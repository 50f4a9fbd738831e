// The module-level names that the parser has seen, and the variable or function of each.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace wm::ptx {

struct ModuleSymbol {
  bool function = false;    // else a variable
  std::uint32_t index = 0;  // into Module::functions or Module::variables
};
using ModuleNames = std::unordered_map<std::string_view, ModuleSymbol>;

}  // namespace wm::ptx
