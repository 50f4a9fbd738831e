// PTX literals: 12, 0x1fU, 017, 0b101, 0f3F800000, 0d3FF0000000000000, 1.5e3.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wm::ptx {

struct Literal {
  enum class Kind : std::uint8_t { integer, f32, f64 };
  Kind kind = Kind::integer;
  std::uint64_t bits = 0;
};

// Nothing where `text` is no literal or does not fit 64 bits.
std::optional<Literal> literal(std::string_view text);

// A floating-point literal in the width an instruction wants; rounds to nearest even when it narrows.
std::uint64_t f32_bits(const Literal& value);
std::uint64_t f64_bits(const Literal& value);

}  // namespace wm::ptx
