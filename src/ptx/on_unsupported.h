// How the parser treats an instruction that warpmux does not have, or any other mistake in the body of a function.
#pragma once

namespace wm::ptx {

// `fail`: the module is refused. `refuse_function`: only that function is; it is then without body and has a
// Function::refusal, which exec::decode reports when a kernel that needs the function is used.
enum class OnUnsupported { fail, refuse_function };

}  // namespace wm::ptx
