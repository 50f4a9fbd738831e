// PTX text to IR. The parser reports unknown text with line and column; it never guesses.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/on_unsupported.h"

namespace wm::ptx {

// `file` is used in messages only.
Result<Module> parse(std::string_view text, std::string file = {}, OnUnsupported unsupported = OnUnsupported::fail);

}  // namespace wm::ptx
