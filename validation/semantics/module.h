// The PTX of a set of forms: one kernel each, `form_0`, `form_1`, …
//
// A kernel takes the address of its inputs (8 bytes a source, element after element), that of its outputs (8 bytes a
// destination) and the number of elements; thread i works on element i.
#pragma once

#include <span>
#include <string>

#include "forms.h"

namespace wm::semantics {

std::string module_of(std::span<const Form> forms);

// The instruction itself, as it stands in its kernel: "add.s32 %d0, %s0, %s1;".
std::string statement_of(const Form& form);

}  // namespace wm::semantics
