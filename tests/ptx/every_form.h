// PTX text that uses each form of the instruction table: every alternative of every place of a name at least once.
#pragma once

#include <string>
#include <vector>

#include "ptx/opcode.h"

namespace wm::ptx {

// One instruction, with its semicolon, over the registers of `every_form_module`.
std::vector<std::string> every_form(Opcode opcode);

// A kernel around `instructions` that declares all they name, for the given target.
std::string every_form_module(const std::vector<std::string>& instructions, const std::string& target = "sm_90");

}  // namespace wm::ptx
