// The part of a function between its name and its body: results, parameters, directives.
#pragma once

#include <vector>

#include "ptx/ir.h"
#include "ptx/token_stream.h"

namespace wm::ptx {

// ( .param .b32 a, .reg .u32 b, … ), with the parenthesis current.
std::vector<Variable> parse_parameters(TokenStream& tokens);

// .entry or .func consumed: results, name, parameters, .maxntid and the like. Not the body.
Function parse_signature(TokenStream& tokens, bool entry, Linkage linkage);

}  // namespace wm::ptx
