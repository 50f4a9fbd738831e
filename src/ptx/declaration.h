// Declarations of variables and parameters: linkage, space, alignment, type, name, shape, initial value.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/ir.h"
#include "ptx/token_stream.h"

namespace wm::ptx {

inline constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 40;

// .global .const .shared .local .param .reg, without the dot.
std::optional<Space> space_named(std::string_view name);
std::string_view name(Space space);

// Parses the part that several names of one declaration share: everything before the name. The caller has consumed the
// space's keyword.
Variable parse_variable_head(TokenStream& tokens, Space space, Linkage linkage);

// The name, the brackets and the initial value of one variable after its head; returns the name's token. An initial
// value is taken at module level only; an array without length needs one, or .extern, or to be a parameter.
Token parse_variable_tail(TokenStream& tokens, Variable& variable, bool may_have_value);

}  // namespace wm::ptx
