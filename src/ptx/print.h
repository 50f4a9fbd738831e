// IR to canonical PTX text: parse(print(m)) equals m, and print(parse(print(m))) is the same text.
#pragma once

#include <string>

#include "ptx/ir.h"

namespace wm::ptx {

std::string print(const Module& module);
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace wm::ptx
