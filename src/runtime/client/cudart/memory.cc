// Memory, copies and symbols.
#include "runtime/client/cudart/runtime.h"

namespace wm::cudart {
namespace {

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// An address on the device plus an offset into the variable that the program registered.
template <typename Body>
cudaError_t with_symbol(const void* symbol, std::size_t bytes, std::size_t offset, Body&& body) {
  CUdeviceptr at = 0;
  std::size_t size = 0;
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  if (const CUresult found = find_variable(symbol, &at, &size); found != CUDA_SUCCESS) return remember(found);
  if (offset > size || bytes > size - offset) return remember(cudaErrorInvalidValue);
  return remember(body(at + offset));
}

// Kinds of a copy: host to host, host to device, device to host, device to device, by the addresses.
bool is_kind(int kind) { return kind >= 0 && kind <= 4; }

CUDA_MEMCPY2D rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                   std::size_t height) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = address(from);
  copy.srcPitch = from_pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = address(to);
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

}  // namespace
}  // namespace wm::cudart

using wm::cudart::address;
using wm::cudart::call;
using wm::cudart::is_kind;
using wm::cudart::remember;
using wm::cudart::with_symbol;

WM_RUNTIME_API cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return remember(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  return call(cuMemAlloc_v2, reinterpret_cast<CUdeviceptr*>(pointer), bytes);
}
WM_RUNTIME_API cudaError_t cudaFree(void* pointer) { return call(cuMemFree_v2, address(pointer)); }
WM_RUNTIME_API cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return call(cuMemAllocHost_v2, pointer, bytes);
}
WM_RUNTIME_API cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return call(cuMemHostAlloc, pointer, bytes, flags);
}
WM_RUNTIME_API cudaError_t cudaFreeHost(void* pointer) {
  return pointer == nullptr ? cudaSuccess : call(cuMemFreeHost, pointer);
}
WM_RUNTIME_API cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return call(cuMemHostRegister_v2, pointer, bytes, flags);
}
WM_RUNTIME_API cudaError_t cudaHostUnregister(void* pointer) { return call(cuMemHostUnregister, pointer); }
WM_RUNTIME_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call(cuMemHostGetDevicePointer_v2, reinterpret_cast<CUdeviceptr*>(device), host, flags);
}
WM_RUNTIME_API cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call(cuMemHostGetFlags, flags, host);
}
WM_RUNTIME_API cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return call(cuMemAllocManaged, reinterpret_cast<CUdeviceptr*>(pointer), bytes, flags);
}
WM_RUNTIME_API cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute,
                                                    const void* pointer, std::size_t bytes) {
  return call(cuMemRangeGetAttribute, data, data_bytes, attribute, address(pointer), bytes);
}
WM_RUNTIME_API cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, int* attributes,
                                                     std::size_t count, const void* pointer, std::size_t bytes) {
  return call(cuMemRangeGetAttributes, data, data_bytes, attributes, count, address(pointer), bytes);
}
WM_RUNTIME_API cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return call(cuMemAllocPitch_v2, reinterpret_cast<CUdeviceptr*>(pointer), pitch, width, height, 4U);
}
WM_RUNTIME_API cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, CUstream stream) {
  return call(cuMemAllocAsync, reinterpret_cast<CUdeviceptr*>(pointer), bytes, stream);
}
WM_RUNTIME_API cudaError_t cudaFreeAsync(void* pointer, CUstream stream) {
  return call(cuMemFreeAsync, address(pointer), stream);
}
WM_RUNTIME_API cudaError_t cudaDeviceGetDefaultMemPool(CUmemoryPool* pool, int device) {
  return call(cuDeviceGetDefaultMemPool, pool, device);
}
WM_RUNTIME_API cudaError_t cudaMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return call(cuMemPoolSetAttribute, pool, attribute, value);
}
WM_RUNTIME_API cudaError_t cudaMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return call(cuMemPoolGetAttribute, pool, attribute, value);
}
WM_RUNTIME_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(cuMemGetInfo_v2, free, total);
}

WM_RUNTIME_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  if (!is_kind(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  return bytes == 0 ? cudaSuccess : call(cuMemcpy, address(to), address(from), bytes);
}
WM_RUNTIME_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, CUstream stream) {
  if (!is_kind(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  return bytes == 0 ? cudaSuccess : call(cuMemcpyAsync, address(to), address(from), bytes, stream);
}
WM_RUNTIME_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                        std::size_t width, std::size_t height, int kind) {
  if (!is_kind(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  if (width > to_pitch || width > from_pitch) return remember(cudaErrorInvalidPitchValue);
  const CUDA_MEMCPY2D copy = wm::cudart::rows(to, to_pitch, from, from_pitch, width, height);
  return call(cuMemcpy2D_v2, &copy);
}
WM_RUNTIME_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                             std::size_t width, std::size_t height, int kind, CUstream stream) {
  if (!is_kind(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  if (width > to_pitch || width > from_pitch) return remember(cudaErrorInvalidPitchValue);
  const CUDA_MEMCPY2D copy = wm::cudart::rows(to, to_pitch, from, from_pitch, width, height);
  return call(cuMemcpy2DAsync_v2, &copy, stream);
}
WM_RUNTIME_API cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call(cuMemsetD8_v2, address(to), static_cast<unsigned char>(value), bytes);
}
WM_RUNTIME_API cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, CUstream stream) {
  return call(cuMemsetD8Async, address(to), static_cast<unsigned char>(value), bytes, stream);
}
WM_RUNTIME_API cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return call(cuMemsetD2D8_v2, address(to), pitch, static_cast<unsigned char>(value), width, height);
}

WM_RUNTIME_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                              std::size_t offset, int) {
  return with_symbol(symbol, bytes, offset, [&](CUdeviceptr at) { return cuMemcpy(at, address(from), bytes); });
}
WM_RUNTIME_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                                int) {
  return with_symbol(symbol, bytes, offset, [&](CUdeviceptr at) { return cuMemcpy(address(to), at, bytes); });
}
WM_RUNTIME_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                                   std::size_t offset, int, CUstream stream) {
  return with_symbol(symbol, bytes, offset,
                     [&](CUdeviceptr at) { return cuMemcpyAsync(at, address(from), bytes, stream); });
}
WM_RUNTIME_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                     std::size_t offset, int, CUstream stream) {
  return with_symbol(symbol, bytes, offset,
                     [&](CUdeviceptr at) { return cuMemcpyAsync(address(to), at, bytes, stream); });
}
WM_RUNTIME_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return with_symbol(symbol, 0, 0, [&](CUdeviceptr at) {
    *pointer = reinterpret_cast<void*>(at);
    return CUDA_SUCCESS;
  });
}
WM_RUNTIME_API cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  CUdeviceptr at = 0;
  if (const CUresult ready = wm::cudart::prepare(); ready != CUDA_SUCCESS) return remember(ready);
  return remember(wm::cudart::find_variable(symbol, &at, bytes));
}

struct cudaPointerAttributes {
  int type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
};
WM_RUNTIME_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return remember(cudaErrorInvalidValue);
  attributes->type = 0;
  attributes->device = -2;
  attributes->devicePointer = nullptr;
  attributes->hostPointer = const_cast<void*>(pointer);
  if (const CUresult ready = wm::cudart::prepare(); ready != CUDA_SUCCESS) return remember(ready);
  unsigned type = 0, managed = 0;
  if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(pointer)) != CUDA_SUCCESS)
    return cudaSuccess;
  (void)cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address(pointer));
  (void)cuPointerGetAttribute(&attributes->devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address(pointer));
  attributes->hostPointer = nullptr;
  (void)cuPointerGetAttribute(&attributes->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address(pointer));
  attributes->type = managed != 0 ? 3 : static_cast<int>(type);
  attributes->device = 0;
  return cudaSuccess;
}
