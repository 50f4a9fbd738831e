// Formats of images: how an array of CUDA holds them, and how kernels read, write and fill them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rewrite/ptx/image_record.h"

namespace wm::runtime::cuda {

struct ImageFormat {
  std::uint32_t order = 0, type = 0;  // OpenCL's numbers
  int array_format = 0;               // CUarray_format
  std::uint32_t channels = 1, channel_bytes = 1;
  bool is_integer = false;  // read as integers
  bool is_srgb = false;
  rewrite::StoreKind store = rewrite::StoreKind::bits;

  [[nodiscard]] std::size_t element_bytes() const { return std::size_t{channels} * channel_bytes; }
};

// Nothing: textures have no such format.
[[nodiscard]] std::optional<ImageFormat> image_format(std::uint32_t order, std::uint32_t type);
// Whether OpenCL knows the order and the type.
[[nodiscard]] bool is_format(std::uint32_t order, std::uint32_t type);

// The fields of a record that depend on the format.
void set_format(const ImageFormat& format, rewrite::ImageRecord& record);

// An element of that colour: four floats, or four integers, in the order red, green, blue, alpha.
[[nodiscard]] std::vector<std::byte> element_of(const ImageFormat& format, std::span<const std::byte> colour);

}  // namespace wm::runtime::cuda
