// The description of a texture or surface in device memory. A handle is the address of a header, and a `.texref` or
// `.surfref` variable is one, so that kernels find it in whatever process they run.
//
// A program can overwrite device memory, so a header is checked before each use.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ptx/opaque.h"

namespace wm::exec {

enum class TexelFormat : std::uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

[[nodiscard]] constexpr std::uint32_t format_bytes(TexelFormat format) {
  switch (format) {
    case TexelFormat::u8:
    case TexelFormat::s8:
      return 1;
    case TexelFormat::u16:
    case TexelFormat::s16:
    case TexelFormat::f16:
      return 2;
    default:
      return 4;
  }
}
[[nodiscard]] constexpr bool is_float_format(TexelFormat f) { return f == TexelFormat::f16 || f == TexelFormat::f32; }

struct TextureHeader {
  static constexpr std::uint32_t kMagic = 0x54584d57;
  static constexpr std::uint32_t kMaxLevels = 16;
  enum class Source : std::uint8_t { array, linear, pitched };

  std::uint32_t magic = 0;
  TexelFormat format = TexelFormat::u8;
  std::uint8_t channels = 1;    // 1, 2 or 4
  std::uint8_t dimensions = 1;  // without the layers
  std::uint8_t is_layered = 0;
  Source source = Source::array;
  std::uint8_t is_surface = 0;
  std::uint8_t filters = 0;  // linear filtering
  std::uint8_t has_normalized_coordinates = 0;
  std::uint8_t reads_normalized = 0;  // integers become floats in [0, 1] or [-1, 1]
  std::uint8_t blends_levels = 0;
  std::uint8_t levels = 1;
  std::array<AddressMode, 3> modes{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  std::uint32_t width = 1, height = 1, depth = 1;  // texels of level 0; depth: layers of a layered texture
  std::array<float, 4> border{};
  float level_bias = 0, min_level = 0, max_level = 0;
  std::array<std::uint64_t, kMaxLevels> address{};
  std::array<std::uint64_t, kMaxLevels> pitch{};  // bytes between rows

  [[nodiscard]] std::uint32_t texel_bytes() const { return format_bytes(format) * channels; }
  [[nodiscard]] std::uint32_t width_of(std::uint32_t level) const { return std::max(1U, width >> level); }
  [[nodiscard]] std::uint32_t height_of(std::uint32_t level) const { return std::max(1U, height >> level); }
  [[nodiscard]] std::uint32_t depth_of(std::uint32_t level) const {
    return is_layered != 0 ? depth : std::max(1U, depth >> level);
  }
  // Bytes between the slices or layers of a level.
  [[nodiscard]] std::uint64_t slice_pitch(std::uint32_t level) const { return pitch[level] * height_of(level); }
  [[nodiscard]] std::uint64_t address_of(std::uint32_t level, std::uint64_t x_bytes, std::uint64_t y,
                                         std::uint64_t z) const {
    return address[level] + z * slice_pitch(level) + y * pitch[level] + x_bytes;
  }
  [[nodiscard]] bool is_valid() const {
    return magic == kMagic && format <= TexelFormat::f32 && (channels == 1 || channels == 2 || channels == 4) &&
           dimensions >= 1 && dimensions <= 3 && source <= Source::pitched && levels >= 1 && levels <= kMaxLevels &&
           width != 0 && height != 0 && depth != 0;
  }
};
static_assert(sizeof(TextureHeader) <= ptx::kTextureHeaderBytes);

}  // namespace wm::exec
