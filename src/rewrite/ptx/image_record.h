// A rewritten kernel's knowledge of an image: one parameter in the place of each, filled at every launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wm::rewrite {

enum class ImageShape : std::uint8_t { unknown, d1, d1_buffer, d2, d3, d1_array, d2_array };

// How a component becomes a channel in memory when it is written.
enum class StoreKind : std::uint32_t { bits, half, unorm, snorm, signed_integer, unsigned_integer };

struct ImageRecord {
  std::uint64_t surface = 0;  // the surface object, or the address of an image that shows a buffer
  std::uint32_t width = 0, height = 0, depth = 0, layers = 0;  // 0: not a dimension of its type
  std::uint32_t channel_order = 0, channel_type = 0;           // OpenCL's numbers
  std::uint32_t is_linear = 0;  // it shows a buffer: a texture of linear memory, which is fetched by whole numbers only
  std::uint32_t store_format = 0;  // `store_format`
  // Component i of a read is the channels of the texture under mask[i], or'ed with constant[i]. Only where `swizzles`.
  std::uint32_t swizzles = 0;
  std::uint32_t reserved = 0;
  std::array<std::array<std::uint32_t, 4>, 4> mask{};
  std::array<std::uint32_t, 4> constant{};
};
static_assert(sizeof(ImageRecord) == 128 && offsetof(ImageRecord, mask) == 48);

// How a write stores a colour: bits 0 to 3 the kind, 4 to 7 the logarithm of a channel's bytes, 8 to 11 that of the
// number of channels.
constexpr std::uint32_t store_format(StoreKind kind, std::uint32_t log2_channel_bytes, std::uint32_t log2_channels) {
  return static_cast<std::uint32_t>(kind) | log2_channel_bytes << 4 | log2_channels << 8;
}

}  // namespace wm::rewrite
