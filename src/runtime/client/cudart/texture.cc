// Arrays, textures and surfaces of the runtime API.
#include <algorithm>
#include <iterator>

#include "runtime/client/cudart/runtime.h"
#include "runtime/client/cudart/volume.h"

using wm::cudart::call;
using wm::cudart::remember;

// The names are those of the public CUDA headers.
// NOLINTBEGIN(readability-identifier-naming)
struct cudaChannelFormatDesc {
  int x, y, z, w;
  int f;  // 0 signed, 1 unsigned, 2 float
};
struct cudaResourceDesc {
  int resType;
  union {
    struct {
      CUarray array;
    } array;
    struct {
      CUmipmappedArray mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  int addressMode[3];
  int filterMode;
  int readMode;  // 0 element type, 1 normalised float
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int seamlessCubemap;
};
// NOLINTEND(readability-identifier-naming)

namespace wm::cudart {
namespace {

struct Format {
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 0;
};

// The driver's format of a channel description; no channels: it has none.
Format format_of(const cudaChannelFormatDesc& d) {
  const int bits[] = {d.x, d.y, d.z, d.w};
  Format f;
  while (f.channels < 4 && bits[f.channels] != 0) ++f.channels;
  for (unsigned i = 0; i < 4; ++i)
    if (bits[i] != (i < f.channels ? d.x : 0)) return {};
  if (f.channels == 3) return {};
  const int width = d.x == 8 ? 0 : d.x == 16 ? 1 : d.x == 32 ? 2 : -1;
  if (width < 0 || d.f < 0 || d.f > 2 || (d.f == 2 && width == 0)) return {};
  constexpr CUarray_format kIntegers[2][3] = {
      {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32},
      {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32}};
  if (d.f == 2)
    f.format = width == 1 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  else
    f.format = kIntegers[d.f][width];
  return f;
}

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels) {
  const bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
  const bool is_signed = (format & 0x08) != 0;
  int bits = 32;
  if (format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT8) bits = 8;
  if (format == CU_AD_FORMAT_UNSIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT16 || format == CU_AD_FORMAT_HALF)
    bits = 16;
  const auto channel = [&](unsigned i) { return i < channels ? bits : 0; };
  return {channel(0), channel(1), channel(2), channel(3), is_float ? 2 : is_signed ? 0 : 1};
}

// The runtime's flags of arrays have the numbers of the driver's.
bool array_descriptor(const cudaChannelFormatDesc* d, cudaExtent extent, unsigned flags, CUDA_ARRAY3D_DESCRIPTOR& out) {
  if (d == nullptr) return false;
  const Format f = format_of(*d);
  out = {extent.width, extent.height, extent.depth, f.format, f.channels, flags};
  return f.channels != 0;
}

bool driver_resource(const cudaResourceDesc& r, CUDA_RESOURCE_DESC& out) {
  out = {};
  out.resType = static_cast<CUresourcetype>(r.resType);
  Format f;
  switch (r.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      out.res.array.hArray = r.res.array.array;
      return true;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      out.res.mipmap.hMipmappedArray = r.res.mipmap.mipmap;
      return true;
    case CU_RESOURCE_TYPE_LINEAR:
      f = format_of(r.res.linear.desc);
      out.res.linear = {reinterpret_cast<CUdeviceptr>(r.res.linear.devPtr), f.format, f.channels,
                        r.res.linear.sizeInBytes};
      return f.channels != 0;
    case CU_RESOURCE_TYPE_PITCH2D:
      f = format_of(r.res.pitch2D.desc);
      out.res.pitch2D = {reinterpret_cast<CUdeviceptr>(r.res.pitch2D.devPtr),
                         f.format,
                         f.channels,
                         r.res.pitch2D.width,
                         r.res.pitch2D.height,
                         r.res.pitch2D.pitchInBytes};
      return f.channels != 0;
    default:
      return false;
  }
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& t) {
  CUDA_TEXTURE_DESC out{};
  for (int i = 0; i < 3; ++i) out.addressMode[i] = static_cast<CUaddress_mode>(t.addressMode[i]);
  out.filterMode = static_cast<CUfilter_mode>(t.filterMode);
  out.flags = (t.readMode == 0 ? CU_TRSF_READ_AS_INTEGER : 0U) |
              (t.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0U) | (t.sRGB != 0 ? CU_TRSF_SRGB : 0U) |
              (t.seamlessCubemap != 0 ? CU_TRSF_SEAMLESS_CUBEMAP : 0U);
  out.maxAnisotropy = t.maxAnisotropy;
  out.mipmapFilterMode = static_cast<CUfilter_mode>(t.mipmapFilterMode);
  out.mipmapLevelBias = t.mipmapLevelBias;
  out.minMipmapLevelClamp = t.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = t.maxMipmapLevelClamp;
  std::copy(std::begin(t.borderColor), std::end(t.borderColor), std::begin(out.borderColor));
  return out;
}

// Rows between an array and memory, or two arrays.
struct ArrayPlace {
  CUarray array = nullptr;
  std::size_t x = 0, y = 0;
};
CUDA_MEMCPY2D to_array(ArrayPlace to, const void* from, std::size_t pitch, std::size_t width, std::size_t height) {
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  c.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  c.srcPitch = pitch;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = to.array;
  c.dstXInBytes = to.x;
  c.dstY = to.y;
  c.WidthInBytes = width;
  c.Height = height;
  return c;
}
CUDA_MEMCPY2D from_array(void* to, std::size_t pitch, ArrayPlace from, std::size_t width, std::size_t height) {
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  c.srcArray = from.array;
  c.srcXInBytes = from.x;
  c.srcY = from.y;
  c.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  c.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  c.dstPitch = pitch;
  c.WidthInBytes = width;
  c.Height = height;
  return c;
}

// A part of a copy of consecutive bytes: rows of `width` bytes, after `done` bytes.
struct RowPart {
  std::size_t x, y, width, rows, done;
};

// Divides a copy that begins at byte `x` of row `y` into the rest of a row, full rows, and the beginning of a row.
template <typename Copy>
cudaError_t in_rows(std::size_t row, std::size_t x, std::size_t y, std::size_t bytes, Copy&& copy) {
  if (row == 0 || x >= row) return remember(cudaErrorInvalidValue);
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t left = bytes - done;
    const bool is_full = x == 0 && left >= row;
    const RowPart part{x, y, is_full ? row : std::min(row - x, left), is_full ? left / row : 1, done};
    if (const cudaError_t copied = copy(part); copied != cudaSuccess) return copied;
    done += part.width * part.rows;
    y += part.rows;
    x = 0;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace wm::cudart

WM_RUNTIME_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f) {
  return {x, y, z, w, f};
}
WM_RUNTIME_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  if (channels == nullptr) return remember(cudaErrorInvalidValue);
  const cudaError_t got = call(cuArray3DGetDescriptor_v2, &d, array);
  if (got == cudaSuccess) *channels = wm::cudart::channels_of(d.Format, d.NumChannels);
  return got;
}
WM_RUNTIME_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                                            CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  const cudaError_t got = call(cuArray3DGetDescriptor_v2, &d, array);
  if (got != cudaSuccess) return got;
  if (channels != nullptr) *channels = wm::cudart::channels_of(d.Format, d.NumChannels);
  if (extent != nullptr) *extent = {d.Width, d.Height, d.Depth};
  if (flags != nullptr) *flags = d.Flags;
  return cudaSuccess;
}
WM_RUNTIME_API cudaError_t cudaMalloc3DArray(CUarray* array, const cudaChannelFormatDesc* channels, cudaExtent extent,
                                             unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  if (!wm::cudart::array_descriptor(channels, extent, flags, d)) return remember(cudaErrorInvalidValue);
  return call(cuArray3DCreate_v2, array, &d);
}
WM_RUNTIME_API cudaError_t cudaMallocArray(CUarray* array, const cudaChannelFormatDesc* channels, std::size_t width,
                                           std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, channels, {width, height, 0}, flags);
}
WM_RUNTIME_API cudaError_t cudaFreeArray(CUarray array) {
  return array == nullptr ? cudaSuccess : call(cuArrayDestroy, array);
}
WM_RUNTIME_API cudaError_t cudaMallocMipmappedArray(CUmipmappedArray* array, const cudaChannelFormatDesc* channels,
                                                    cudaExtent extent, unsigned levels, unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  if (!wm::cudart::array_descriptor(channels, extent, flags, d)) return remember(cudaErrorInvalidValue);
  return call(cuMipmappedArrayCreate, array, &d, levels);
}
WM_RUNTIME_API cudaError_t cudaGetMipmappedArrayLevel(CUarray* level_array, CUmipmappedArray array, unsigned level) {
  return call(cuMipmappedArrayGetLevel, level_array, array, level);
}
WM_RUNTIME_API cudaError_t cudaFreeMipmappedArray(CUmipmappedArray array) {
  return array == nullptr ? cudaSuccess : call(cuMipmappedArrayDestroy, array);
}

WM_RUNTIME_API cudaError_t cudaMemcpy2DToArray(CUarray to, std::size_t x, std::size_t y, const void* from,
                                               std::size_t pitch, std::size_t width, std::size_t height, int) {
  const CUDA_MEMCPY2D copy = wm::cudart::to_array({to, x, y}, from, pitch, width, height);
  return call(cuMemcpy2DUnaligned_v2, &copy);
}
WM_RUNTIME_API cudaError_t cudaMemcpy2DToArrayAsync(CUarray to, std::size_t x, std::size_t y, const void* from,
                                                    std::size_t pitch, std::size_t width, std::size_t height, int,
                                                    CUstream stream) {
  const CUDA_MEMCPY2D copy = wm::cudart::to_array({to, x, y}, from, pitch, width, height);
  return call(cuMemcpy2DAsync_v2, &copy, stream);
}
WM_RUNTIME_API cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, CUarray from, std::size_t x,
                                                 std::size_t y, std::size_t width, std::size_t height, int) {
  const CUDA_MEMCPY2D copy = wm::cudart::from_array(to, pitch, {from, x, y}, width, height);
  return call(cuMemcpy2DUnaligned_v2, &copy);
}
WM_RUNTIME_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, CUarray from, std::size_t x,
                                                      std::size_t y, std::size_t width, std::size_t height, int,
                                                      CUstream stream) {
  const CUDA_MEMCPY2D copy = wm::cudart::from_array(to, pitch, {from, x, y}, width, height);
  return call(cuMemcpy2DAsync_v2, &copy, stream);
}
WM_RUNTIME_API cudaError_t cudaMemcpy2DArrayToArray(CUarray to, std::size_t to_x, std::size_t to_y, CUarray from,
                                                    std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                                                    int) {
  CUDA_MEMCPY2D copy = wm::cudart::from_array(nullptr, 0, {from, x, y}, width, height);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = to;
  copy.dstXInBytes = to_x;
  copy.dstY = to_y;
  return call(cuMemcpy2DUnaligned_v2, &copy);
}
// Copies of consecutive bytes, which continue in the next row of the array.
WM_RUNTIME_API cudaError_t cudaMemcpyToArrayAsync(CUarray to, std::size_t x, std::size_t y, const void* from,
                                                  std::size_t bytes, int kind, CUstream stream) {
  const std::size_t row = wm::cudart::row_bytes(to);
  return wm::cudart::in_rows(row, x, y, bytes, [&](const wm::cudart::RowPart& part) {
    return cudaMemcpy2DToArrayAsync(to, part.x, part.y, static_cast<const char*>(from) + part.done, part.width,
                                    part.width, part.rows, kind, stream);
  });
}
WM_RUNTIME_API cudaError_t cudaMemcpyFromArrayAsync(void* to, CUarray from, std::size_t x, std::size_t y,
                                                    std::size_t bytes, int kind, CUstream stream) {
  const std::size_t row = wm::cudart::row_bytes(from);
  return wm::cudart::in_rows(row, x, y, bytes, [&](const wm::cudart::RowPart& part) {
    return cudaMemcpy2DFromArrayAsync(static_cast<char*>(to) + part.done, part.width, from, part.x, part.y, part.width,
                                      part.rows, kind, stream);
  });
}
WM_RUNTIME_API cudaError_t cudaMemcpyToArray(CUarray to, std::size_t x, std::size_t y, const void* from,
                                             std::size_t bytes, int kind) {
  const cudaError_t begun = cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, nullptr);
  return begun != cudaSuccess ? begun : call(cuStreamSynchronize, CUstream{nullptr});
}
WM_RUNTIME_API cudaError_t cudaMemcpyFromArray(void* to, CUarray from, std::size_t x, std::size_t y, std::size_t bytes,
                                               int kind) {
  const cudaError_t begun = cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, nullptr);
  return begun != cudaSuccess ? begun : call(cuStreamSynchronize, CUstream{nullptr});
}

WM_RUNTIME_API cudaError_t cudaCreateTextureObject(CUtexObject* object, const cudaResourceDesc* resource,
                                                   const cudaTextureDesc* texture, const void* view) {
  CUDA_RESOURCE_DESC r{};
  if (resource == nullptr || texture == nullptr || !wm::cudart::driver_resource(*resource, r))
    return remember(cudaErrorInvalidValue);
  const CUDA_TEXTURE_DESC t = wm::cudart::driver_texture(*texture);
  return call(cuTexObjectCreate, object, &r, &t, static_cast<const CUDA_RESOURCE_VIEW_DESC*>(view));
}
WM_RUNTIME_API cudaError_t cudaDestroyTextureObject(CUtexObject object) {
  return object == 0 ? cudaSuccess : call(cuTexObjectDestroy, object);
}
WM_RUNTIME_API cudaError_t cudaCreateSurfaceObject(CUsurfObject* object, const cudaResourceDesc* resource) {
  CUDA_RESOURCE_DESC r{};
  if (resource == nullptr || !wm::cudart::driver_resource(*resource, r)) return remember(cudaErrorInvalidValue);
  return call(cuSurfObjectCreate, object, &r);
}
WM_RUNTIME_API cudaError_t cudaDestroySurfaceObject(CUsurfObject object) {
  return object == 0 ? cudaSuccess : call(cuSurfObjectDestroy, object);
}
