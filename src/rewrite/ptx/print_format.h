// Formats of OpenCL's printf as formats that the CUDA driver prints right: without conversions of vectors, such as
// %.2v4hlf, and without the lengths hh and h, of which the driver reads the first as eight bytes (580.159).
//
// OpenCL's compilers store the arguments of a printf one after the other, each at a multiple of its own size: integers
// and characters as 4 bytes (8 with l), numbers with a fraction as 8, and vectors with their elements as they are,
// three of them as four. C has no vectors: each element becomes an argument, with commas between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wm::rewrite {

struct PrintedArgument {
  enum class Kind : std::uint8_t { is_signed, is_unsigned, floating };
  Kind kind = Kind::is_unsigned;
  std::uint32_t bytes = 4;         // an element has so many
  std::uint32_t stored_bytes = 4;  // an element takes so many in the block of arguments
  std::uint32_t count = 1;         // elements
  bool is_vector = false;
};

struct PlainFormat {
  std::string text;
  std::vector<PrintedArgument> arguments;
};

// Whether the CUDA driver would print something else.
[[nodiscard]] bool needs_other_format(std::string_view format);

// Nothing: the format has a conversion that C does not know, or one of OpenCL that no vector may have.
[[nodiscard]] std::optional<PlainFormat> plain_format(std::string_view format);

}  // namespace wm::rewrite
