// Functions that loaded libraries import, replaced by ones of this program.
#pragma once

#include <cstddef>
#include <string_view>

namespace wm::runtime {

// Every loaded library whose file name starts with `library` calls `replacement` in place of the imported `function`.
// Returns the number of places that were changed. Libraries loaded later are not.
std::size_t replace_import(std::string_view library, std::string_view function, void* replacement);

}  // namespace wm::runtime
