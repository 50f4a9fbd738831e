// CUDA arrays: texels in device memory, row after row. Hardware has a layout of its own, which no program can see.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/texture_header.h"
#include "runtime/client/cuda/interface/texture_types.h"

namespace wm::cuda {

// The executor's name of a format; false: it is none that textures can have here.
bool texel_format(CUarray_format format, exec::TexelFormat& out);

class Array {
 public:
  Array(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) : context(context), descriptor(descriptor) {}

  Context* const context;
  const CUDA_ARRAY3D_DESCRIPTOR descriptor;
  std::uint64_t address = 0;
  MipmappedArray* levels_of = nullptr;  // the array that this is a level of

  [[nodiscard]] bool is_layered() const { return (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0; }
  [[nodiscard]] std::uint64_t rows() const { return descriptor.Height == 0 ? 1 : descriptor.Height; }
  [[nodiscard]] std::uint64_t slices() const { return descriptor.Depth == 0 ? 1 : descriptor.Depth; }
  [[nodiscard]] std::uint64_t row_bytes() const;
  [[nodiscard]] std::uint64_t pitch() const;
  [[nodiscard]] std::uint64_t bytes() const { return pitch() * rows() * slices(); }
};

// Levels of halving size in one piece of memory.
class MipmappedArray {
 public:
  MipmappedArray(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels);

  Context* const context;
  std::vector<std::shared_ptr<Array>> levels;
  std::uint64_t address = 0;

  [[nodiscard]] std::uint64_t bytes() const;
  // Gives the levels their addresses.
  void place(std::uint64_t at);
};

// CUDA_SUCCESS, or the error that an array with this descriptor is refused with.
CUresult check(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

}  // namespace wm::cuda
