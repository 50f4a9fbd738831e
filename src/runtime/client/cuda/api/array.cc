// CUDA arrays and the copies of one dimension from and to them; copies of rows are in copies.cc.
#include "runtime/client/cuda/api/copies.h"

namespace wm::cuda {
namespace {

CUresult allocate(Context& context, std::uint64_t bytes, std::uint64_t& address) {
  const auto allocated = driver_of(context).memory().allocate(bytes, "array", &context);
  if (!allocated) {
    explain(allocated.error().what);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  address = *allocated;
  return CUDA_SUCCESS;
}

CUresult create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return with_context([&](Context& context) {
    if (handle == nullptr || descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult valid = check(*descriptor); valid != CUDA_SUCCESS) return valid;
    auto array = std::make_shared<Array>(&context, *descriptor);
    if (const CUresult got = allocate(context, array->bytes(), array->address); got != CUDA_SUCCESS) return got;
    *handle = driver_of(context).textures.arrays.add(std::move(array));
    return CUDA_SUCCESS;
  });
}

template <typename Body>
CUresult with_array(CUarray handle, Body&& body) {
  return with_context([&](Context& context) {
    const auto array = driver_of(context).textures.arrays.find(handle);
    if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return std::forward<Body>(body)(context, *array);
  });
}

// The address of bytes of an array of one row; empty: they are not inside.
std::optional<std::uint64_t> bytes_of(CUarray handle, std::size_t offset, std::size_t bytes) {
  Driver* driver = Driver::get();
  const auto array = driver == nullptr ? nullptr : driver->textures.arrays.find(handle);
  if (array == nullptr || offset > array->row_bytes() || bytes > array->row_bytes() - offset) return std::nullopt;
  return array->address + offset;
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Array;
using wm::cuda::bytes_of;
using wm::cuda::Context;
using wm::cuda::driver_of;
using wm::cuda::MipmappedArray;
using wm::cuda::with_array;
using wm::cuda::with_context;

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return wm::cuda::create(array, descriptor);
}

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  if (d == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR full{d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
  return wm::cuda::create(array, &full);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
  return with_array(handle, [&](Context&, const Array& array) {
    if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *descriptor = array.descriptor;
    return CUDA_SUCCESS;
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray handle) {
  return with_array(handle, [&](Context&, const Array& array) {
    if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR& d = array.descriptor;
    *descriptor = {d.Width, d.Height, d.Format, d.NumChannels};
    return CUDA_SUCCESS;
  });
}

CUresult cuArrayDestroy(CUarray handle) {
  return with_array(handle, [&](Context& context, const Array& array) {
    if (array.levels_of != nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult done = context.synchronize(); done != CUDA_SUCCESS) return done;
    const auto removed = driver_of(context).textures.arrays.remove(handle);
    if (removed == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return driver_of(context).memory().free(removed->address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned levels) {
  return with_context([&](Context& context) {
    if (handle == nullptr || descriptor == nullptr || levels == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult valid = wm::cuda::check(*descriptor); valid != CUDA_SUCCESS) return valid;
    // Levels beyond the one of a single texel do not exist.
    const bool is_layered = (descriptor->Flags & CUDA_ARRAY3D_LAYERED) != 0;
    std::size_t longest = std::max(descriptor->Width, descriptor->Height);
    if (!is_layered) longest = std::max(longest, descriptor->Depth);
    unsigned possible = 1;
    while (longest >> possible != 0 && possible < wm::exec::TextureHeader::kMaxLevels) ++possible;
    auto array = std::make_shared<MipmappedArray>(&context, *descriptor, std::min(levels, possible));
    std::uint64_t address = 0;
    if (const CUresult got = wm::cuda::allocate(context, array->bytes(), address); got != CUDA_SUCCESS) return got;
    array->place(address);
    for (const auto& level : array->levels) driver_of(context).textures.arrays.add(level);
    *handle = driver_of(context).textures.mipmapped_arrays.add(std::move(array));
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* level_array, CUmipmappedArray handle, unsigned level) {
  return with_context([&](Context& context) {
    const auto array = driver_of(context).textures.mipmapped_arrays.find(handle);
    if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (level_array == nullptr || level >= array->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *level_array = array->levels[level].get();
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return with_context([&](Context& context) {
    auto& textures = driver_of(context).textures;
    if (textures.mipmapped_arrays.find(handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult done = context.synchronize(); done != CUDA_SUCCESS) return done;
    const auto array = textures.mipmapped_arrays.remove(handle);
    if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    for (const auto& level : array->levels) textures.arrays.remove(level.get());
    return driver_of(context).memory().free(array->address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemcpyHtoA_v2(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  const auto at = bytes_of(to, offset, bytes);
  return at ? cuMemcpyHtoD_v2(*at, from, bytes) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  const auto at = bytes_of(from, offset, bytes);
  return at ? cuMemcpyDtoH_v2(to, *at, bytes) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyDtoA_v2(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  const auto at = bytes_of(to, offset, bytes);
  return at ? cuMemcpyDtoD_v2(*at, from, bytes) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  const auto at = bytes_of(from, offset, bytes);
  return at ? cuMemcpyDtoD_v2(to, *at, bytes) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyAtoA_v2(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset, std::size_t bytes) {
  const auto target = bytes_of(to, to_offset, bytes), source = bytes_of(from, from_offset, bytes);
  return target && source ? cuMemcpyDtoD_v2(*target, *source, bytes) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, std::size_t offset, const void* from, std::size_t bytes, CUstream stream) {
  const auto at = bytes_of(to, offset, bytes);
  return at ? cuMemcpyHtoDAsync_v2(*at, from, bytes, stream) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes, CUstream stream) {
  const auto at = bytes_of(from, offset, bytes);
  return at ? cuMemcpyDtoHAsync_v2(to, *at, bytes, stream) : CUDA_ERROR_INVALID_VALUE;
}
