// The shape that a texture or surface instruction names, packed into Op::targets.
//
// Coordinates are the last rows of Operands::more: the layer of a layered texture first, then x, y, z.
#pragma once

#include <cstdint>

#include "exec/program.h"
#include "ptx/ir.h"

namespace wm::exec {

struct TextureShape {
  enum class Outside : std::uint8_t { trap, clamp, zero };

  std::uint8_t dimensions = 1;
  bool is_layered = false;
  bool has_index = false;  // coordinates are texel numbers
  bool gathers = false;    // tld4
  std::uint8_t channel = 0;
  Outside outside = Outside::trap;  // surfaces

  [[nodiscard]] constexpr std::uint32_t coordinates() const { return dimensions + (is_layered ? 1U : 0U); }
  [[nodiscard]] constexpr std::uint32_t pack() const {
    return dimensions | static_cast<std::uint32_t>(is_layered) << 2 | static_cast<std::uint32_t>(has_index) << 3 |
           static_cast<std::uint32_t>(gathers) << 4 | static_cast<std::uint32_t>(channel) << 5 |
           static_cast<std::uint32_t>(outside) << 7;
  }
  static constexpr TextureShape unpack(std::uint32_t bits) {
    TextureShape s;
    s.dimensions = static_cast<std::uint8_t>(bits & 3U);
    s.is_layered = (bits >> 2 & 1U) != 0;
    s.has_index = (bits >> 3 & 1U) != 0;
    s.gathers = (bits >> 4 & 1U) != 0;
    s.channel = static_cast<std::uint8_t>(bits >> 5 & 3U);
    s.outside = static_cast<Outside>(bits >> 7 & 3U);
    return s;
  }
};

TextureShape texture_shape(const ptx::Instruction& instruction);
Mode surface_reduction(const ptx::Instruction& instruction);
Mode texture_query(const ptx::Instruction& instruction);

}  // namespace wm::exec
