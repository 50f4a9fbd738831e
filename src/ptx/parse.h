// PTX text to IR. The parser reports unknown text with line and column; it never guesses.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::ptx {

// What an instruction that warpmux does not have, or any other mistake in the body of a function, means: an error of
// the module, or only of that function, which is then without body and has a Function::refusal. exec::decode reports it
// when a kernel that needs the function is used.
enum class OnUnsupported { fail, refuse_function };

// `file` is used in messages only.
Result<Module> parse(std::string_view text, std::string file = {}, OnUnsupported unsupported = OnUnsupported::fail);

}  // namespace wm::ptx
