// Initial values of variables: numbers, floats, nested braces, addresses of variables and functions.
#pragma once

#include "ptx/ir.h"
#include "ptx/token_stream.h"

namespace wm::ptx {

// After the `=`. Fills variable.initial up to the last byte that is not zero, variable.relocations, and the first
// length where none was written. The caller checks symbols when the module is complete.
void parse_initializer(TokenStream& tokens, Variable& variable);

// The members of a sampler, as they are written: { addr_mode_0 = wrap, …, filter_mode = nearest }.
[[nodiscard]] std::string sampler_text(const SamplerState& sampler);

}  // namespace wm::ptx
