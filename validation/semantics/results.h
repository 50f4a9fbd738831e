// The results of a GPU for every form, as text small enough to commit.
//
// One line a form: its name, its operands and their registers, and for each warp of 32 elements a fingerprint of all
// their outputs; for an approximate form the outputs themselves, since only their distance can be judged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forms.h"

namespace wm::semantics {

inline constexpr std::size_t kWarp = 32;

// The fingerprint of the outputs of one warp, 64 bits each.
std::uint32_t fingerprint(std::span<const std::uint64_t> outputs);

// Outputs: element after element, destination after destination. The line ends with a newline.
std::string line_of(const Form& form, std::span<const std::uint64_t> outputs);

// A line taken apart: fingerprints, or outputs, in hexadecimal order as written.
struct Line {
  std::string key;  // name, operands and registers: "cvt.s8.s32 d0,s0:b32<b32"
  std::vector<std::uint64_t> values;
};
std::string key_of(const Form& form);
Line parse_line(std::string_view text);

}  // namespace wm::semantics
