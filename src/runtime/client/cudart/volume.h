// Places and extents of three dimensions in the runtime API.
#pragma once

#include <cstddef>

#include "runtime/client/cudart/runtime.h"

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
struct cudaMemcpy3DParms {
  CUarray srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  CUarray dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  int kind;
};
// NOLINTEND(readability-identifier-naming)

namespace wm::cudart {

// The copy for the driver. With an array the extent and the positions in arrays count texels, else bytes.
CUDA_MEMCPY3D volume_copy(const cudaMemcpy3DParms& parameters);

// Bytes of a row of an array; 0: there is no such array.
std::size_t row_bytes(CUarray array);

}  // namespace wm::cudart
