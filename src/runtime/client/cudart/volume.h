// Places and extents of three dimensions in the runtime API.
#pragma once

#include <cstddef>

// The names are those of the public CUDA headers.
// NOLINTBEGIN(readability-identifier-naming)
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};
// NOLINTEND(readability-identifier-naming)
