// A synthetic picture for the image benchmarks: shaded patches with sharp borders, and sensor noise on top.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace wm::zoo {

// Red in the lowest byte, then green, blue and an opaque alpha, row by row.
inline std::vector<std::uint32_t> noisy_picture(Random& random, std::uint32_t width, std::uint32_t height) {
  constexpr std::uint32_t kPatch = 24;
  const std::uint32_t patches_a_row = (width + kPatch - 1) / kPatch;
  std::vector<std::uint32_t> base(std::size_t{patches_a_row} * ((height + kPatch - 1) / kPatch) * 3);
  for (std::uint32_t& level : base) level = 32 + random.below(128);
  std::vector<std::uint32_t> pixels;
  pixels.reserve(std::size_t{width} * height);
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x) {
      const std::size_t patch = std::size_t{y / kPatch} * patches_a_row + x / kPatch;
      std::uint32_t pixel = 0xff000000U;
      for (std::uint32_t channel = 0; channel < 3; ++channel) {
        const std::uint32_t shade = (channel + 1) * (x % kPatch) / 2 + (3 - channel) * (y % kPatch) / 2;
        const std::uint32_t level = base[patch * 3 + channel] + shade + random.below(24);
        pixel |= std::min(level, 255U) << (8 * channel);
      }
      pixels.push_back(pixel);
    }
  return pixels;
}

}  // namespace wm::zoo
