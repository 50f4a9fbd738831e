// Copies in three dimensions.
#include "runtime/client/cudart/volume.h"

#include "runtime/client/cudart/runtime.h"

using wm::cudart::call;
using wm::cudart::remember;

namespace wm::cudart {
namespace {

constexpr std::size_t kVolumePitch = 512;

std::size_t texel_bytes(CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  if (prepare() != CUDA_SUCCESS || cuArray3DGetDescriptor_v2(&d, array) != CUDA_SUCCESS) return 1;
  const bool is_byte = d.Format == CU_AD_FORMAT_UNSIGNED_INT8 || d.Format == CU_AD_FORMAT_SIGNED_INT8;
  const bool is_word = d.Format == CU_AD_FORMAT_UNSIGNED_INT32 || d.Format == CU_AD_FORMAT_SIGNED_INT32 ||
                       d.Format == CU_AD_FORMAT_FLOAT;
  return std::size_t{is_byte ? 1U : is_word ? 4U : 2U} * d.NumChannels;
}

}  // namespace

std::size_t row_bytes(CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  if (prepare() != CUDA_SUCCESS || cuArray3DGetDescriptor_v2(&d, array) != CUDA_SUCCESS) return 0;
  return d.Width * texel_bytes(array);
}

CUDA_MEMCPY3D volume_copy(const cudaMemcpy3DParms& p) {
  CUDA_MEMCPY3D copy{};
  const std::size_t source = p.srcArray != nullptr ? texel_bytes(p.srcArray) : 1;
  const std::size_t target = p.dstArray != nullptr ? texel_bytes(p.dstArray) : 1;
  copy.srcMemoryType = p.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  copy.dstMemoryType = p.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  copy.srcArray = p.srcArray;
  copy.dstArray = p.dstArray;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(p.srcPtr.ptr);
  copy.srcPitch = p.srcPtr.pitch;
  copy.srcHeight = p.srcPtr.ysize;
  copy.srcXInBytes = p.srcPos.x * source;
  copy.srcY = p.srcPos.y;
  copy.srcZ = p.srcPos.z;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(p.dstPtr.ptr);
  copy.dstPitch = p.dstPtr.pitch;
  copy.dstHeight = p.dstPtr.ysize;
  copy.dstXInBytes = p.dstPos.x * target;
  copy.dstY = p.dstPos.y;
  copy.dstZ = p.dstPos.z;
  copy.WidthInBytes = p.extent.width * (p.srcArray != nullptr ? source : target);
  copy.Height = p.extent.height;
  copy.Depth = p.extent.depth;
  return copy;
}

}  // namespace wm::cudart

WM_RUNTIME_API cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  if (memory == nullptr) return remember(cudaErrorInvalidValue);
  constexpr std::size_t kMax = ~std::size_t{0} / 2;
  if (extent.width > kMax) return remember(cudaErrorMemoryAllocation);
  const std::size_t pitch =
      (extent.width + wm::cudart::kVolumePitch - 1) / wm::cudart::kVolumePitch * wm::cudart::kVolumePitch;
  if ((extent.height != 0 && pitch > kMax / extent.height) ||
      (extent.depth != 0 && pitch * extent.height > kMax / extent.depth))
    return remember(cudaErrorMemoryAllocation);
  *memory = {nullptr, pitch, extent.width, extent.height};
  return call(cuMemAlloc_v2, reinterpret_cast<CUdeviceptr*>(&memory->ptr), pitch * extent.height * extent.depth);
}
WM_RUNTIME_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return remember(cudaErrorInvalidValue);
  const CUDA_MEMCPY3D copy = wm::cudart::volume_copy(*parameters);
  return call(cuMemcpy3D_v2, &copy);
}
WM_RUNTIME_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, CUstream stream) {
  if (parameters == nullptr) return remember(cudaErrorInvalidValue);
  const CUDA_MEMCPY3D copy = wm::cudart::volume_copy(*parameters);
  return call(cuMemcpy3DAsync_v2, &copy, stream);
}
