#include "runtime/client/cuda/state/array.h"

#include <algorithm>

namespace wm::cuda {

namespace {

constexpr std::uint64_t kRowAlign = 128;
constexpr std::uint64_t kLevelAlign = 512;
constexpr std::size_t kMaxExtent = 1U << 17;  // texels of any side, as on GPUs of today

std::uint64_t aligned(std::uint64_t bytes, std::uint64_t align) { return (bytes + align - 1) / align * align; }

std::size_t halved(std::size_t extent, unsigned level) {
  return extent == 0 ? 0 : std::max<std::size_t>(1, extent >> level);
}

}  // namespace

bool texel_format(CUarray_format format, exec::TexelFormat& out) {
  using exec::TexelFormat;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      out = TexelFormat::u8;
      return true;
    case CU_AD_FORMAT_UNSIGNED_INT16:
      out = TexelFormat::u16;
      return true;
    case CU_AD_FORMAT_UNSIGNED_INT32:
      out = TexelFormat::u32;
      return true;
    case CU_AD_FORMAT_SIGNED_INT8:
      out = TexelFormat::s8;
      return true;
    case CU_AD_FORMAT_SIGNED_INT16:
      out = TexelFormat::s16;
      return true;
    case CU_AD_FORMAT_SIGNED_INT32:
      out = TexelFormat::s32;
      return true;
    case CU_AD_FORMAT_HALF:
      out = TexelFormat::f16;
      return true;
    case CU_AD_FORMAT_FLOAT:
      out = TexelFormat::f32;
      return true;
  }
  return false;
}

std::uint64_t Array::row_bytes() const {
  exec::TexelFormat format{};
  texel_format(descriptor.Format, format);
  return descriptor.Width * exec::format_bytes(format) * descriptor.NumChannels;
}

std::uint64_t Array::pitch() const { return aligned(row_bytes(), kRowAlign); }

MipmappedArray::MipmappedArray(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned count)
    : context(context) {
  const bool is_layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  for (unsigned level = 0; level < count; ++level) {
    CUDA_ARRAY3D_DESCRIPTOR d = descriptor;
    d.Width = halved(d.Width, level);
    d.Height = halved(d.Height, level);
    if (!is_layered) d.Depth = halved(d.Depth, level);
    levels.push_back(std::make_shared<Array>(context, d));
    levels.back()->levels_of = this;
  }
}

std::uint64_t MipmappedArray::bytes() const {
  std::uint64_t total = 0;
  for (const auto& level : levels) total += aligned(level->bytes(), kLevelAlign);
  return total;
}

void MipmappedArray::place(std::uint64_t at) {
  address = at;
  for (const auto& level : levels) {
    level->address = at;
    at += aligned(level->bytes(), kLevelAlign);
  }
}

CUresult check(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  exec::TexelFormat format{};
  if (d.Width == 0 || d.Width > kMaxExtent || d.Height > kMaxExtent || d.Depth > kMaxExtent)
    return CUDA_ERROR_INVALID_VALUE;
  if (d.NumChannels != 1 && d.NumChannels != 2 && d.NumChannels != 4) return CUDA_ERROR_INVALID_VALUE;
  const bool is_layered = (d.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if (is_layered && d.Depth == 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_layered && d.Depth != 0 && d.Height == 0) return CUDA_ERROR_INVALID_VALUE;
  constexpr unsigned kKnown = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_TEXTURE_GATHER;
  if ((d.Flags & ~kKnown) != 0 || !texel_format(d.Format, format)) return CUDA_ERROR_NOT_SUPPORTED;
  return CUDA_SUCCESS;
}

}  // namespace wm::cuda
