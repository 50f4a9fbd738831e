// Copies and fills of boxes of images, on a stream.
//
// Origins and regions count as OpenCL's do: the layers of a 1D array are rows. Memory beside an image has no gaps.
#pragma once

#include "runtime/device/cuda/image.h"

namespace wm::runtime::cuda {

// One end of a copy: an image, or the first byte of a box in memory of the device or of the host.
struct BoxPlace {
  const CudaImage* image = nullptr;
  Size3 origin{};  // in the image
  Address device = 0;
  std::byte* host = nullptr;
};

// `element_bytes` is the size of an element of the image, or of both. The boxes lie inside their images.
Code copy_box(const DriverCalls& cuda, const BoxPlace& from, const BoxPlace& to, const Size3& region,
              std::size_t element_bytes, Stream stream);

// Repeats the pattern, of 1, 2, 4, 8, … bytes.
Code fill_memory(const DriverCalls& cuda, Address at, std::span<const std::byte> pattern, std::size_t bytes,
                 Stream stream);
Code fill_box(const CudaImage& image, const Size3& origin, const Size3& region, std::span<const std::byte> element,
              Stream stream);

[[nodiscard]] inline std::size_t box_bytes(const CudaImage& image, const Size3& region) {
  return region[0] * region[1] * region[2] * image.format.element_bytes();
}

}  // namespace wm::runtime::cuda
