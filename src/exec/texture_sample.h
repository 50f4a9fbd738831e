// Texture fetches of one thread, by the formulas of the CUDA programming guide ("Texture Fetching").
//
// Linear filtering weighs texels with fractions of 8 bits, as hardware does: a weight is a multiple of 1/256.
#pragma once

#include <array>
#include <cstdint>

#include "exec/address_space.h"
#include "exec/texture_header.h"

namespace wm::exec {

// The place of a fetch as an instruction names it.
struct TexturePoint {
  std::array<double, 3> at{};  // x, y, z
  std::uint32_t layer = 0;
  bool is_index = false;  // whole texel numbers: neither normalised nor filtered
  double level = 0;
};

// Four channels as the bits that a register gets. A texture with fewer channels has 0, 0 and 1 in the others.
using Texel = std::array<std::uint32_t, 4>;

// Fetches at `point`; `first` gets the address of one texel that took part, 0 where none did. False: the texture's
// memory is not allocated.
bool sample(const TextureHeader& texture, const AddressSpace& memory, const TexturePoint& point, Texel& out,
            std::uint64_t& first);

// One channel of the four texels that linear filtering of a 2D texture would weigh, from the lower left one
// counter-clockwise.
bool gather(const TextureHeader& texture, const AddressSpace& memory, const TexturePoint& point, std::uint32_t channel,
            Texel& out, std::uint64_t& first);

}  // namespace wm::exec
