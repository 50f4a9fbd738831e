// Memory pools, prefetches, fills of volumes, peers, and questions about functions and streams.
#include "runtime/client/cudart/runtime.h"
#include "runtime/client/cudart/volume.h"

namespace wm::cudart {
namespace {

CUdeviceptr device_pointer(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

template <typename Body>
cudaError_t with_kernel(const void* host, Body&& body) {
  CUfunction function = nullptr;
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  if (const CUresult found = find_function(host, &function); found != CUDA_SUCCESS) return remember(found);
  return remember(body(function));
}

// A volume is filled slice by slice; rows of a slice are a pitch apart.
template <typename Fill>
cudaError_t fill_volume(const cudaPitchedPtr& to, const cudaExtent& extent, Fill&& fill) {
  if (extent.width == 0 || extent.height == 0) return cudaSuccess;
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const CUdeviceptr slice = device_pointer(to.ptr) + z * to.pitch * to.ysize;
    if (const cudaError_t filled = fill(slice); filled != cudaSuccess) return filled;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace wm::cudart

using wm::cudart::call;
using wm::cudart::device_pointer;
using wm::cudart::remember;

WM_RUNTIME_API cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                             std::size_t height, CUstream stream) {
  return call(cuMemsetD2D8Async, device_pointer(to), pitch, static_cast<unsigned char>(value), width, height, stream);
}
WM_RUNTIME_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return wm::cudart::fill_volume(to, extent, [&](CUdeviceptr slice) {
    return call(cuMemsetD2D8_v2, slice, to.pitch, static_cast<unsigned char>(value), extent.width, extent.height);
  });
}
WM_RUNTIME_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, CUstream stream) {
  return wm::cudart::fill_volume(to, extent, [&](CUdeviceptr slice) {
    return call(cuMemsetD2D8Async, slice, to.pitch, static_cast<unsigned char>(value), extent.width, extent.height,
                stream);
  });
}

WM_RUNTIME_API cudaError_t cudaMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return call(cuMemPoolCreate, pool, properties);
}
WM_RUNTIME_API cudaError_t cudaMemPoolDestroy(CUmemoryPool pool) { return call(cuMemPoolDestroy, pool); }
WM_RUNTIME_API cudaError_t cudaMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return call(cuMemPoolTrimTo, pool, bytes);
}
WM_RUNTIME_API cudaError_t cudaMemPoolSetAccess(CUmemoryPool pool, const void* access, std::size_t count) {
  return call(cuMemPoolSetAccess, pool, access, count);
}
WM_RUNTIME_API cudaError_t cudaMemPoolGetAccess(unsigned* flags, CUmemoryPool pool, CUmemLocation* location) {
  return call(cuMemPoolGetAccess, flags, pool, location);
}
WM_RUNTIME_API cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, CUmemoryPool pool,
                                                   CUstream stream) {
  return call(cuMemAllocFromPoolAsync, reinterpret_cast<CUdeviceptr*>(pointer), bytes, pool, stream);
}
WM_RUNTIME_API cudaError_t cudaDeviceGetMemPool(CUmemoryPool* pool, int device) {
  return call(cuDeviceGetMemPool, pool, device);
}
WM_RUNTIME_API cudaError_t cudaDeviceSetMemPool(int device, CUmemoryPool pool) {
  return call(cuDeviceSetMemPool, device, pool);
}

// There is one device: a copy between peers is a copy within it.
WM_RUNTIME_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                          std::size_t bytes) {
  if (to_device != 0 || from_device != 0) return remember(cudaErrorInvalidDevice);
  return call(cuMemcpy, device_pointer(to), device_pointer(from), bytes);
}
WM_RUNTIME_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                               std::size_t bytes, CUstream stream) {
  if (to_device != 0 || from_device != 0) return remember(cudaErrorInvalidDevice);
  return call(cuMemcpyAsync, device_pointer(to), device_pointer(from), bytes, stream);
}
WM_RUNTIME_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return remember(cudaErrorInvalidDevice); }
WM_RUNTIME_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return remember(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}
WM_RUNTIME_API cudaError_t cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return call(cuDeviceGetP2PAttribute, value, attribute, device, peer);
}
WM_RUNTIME_API cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return call(cuDeviceGetPCIBusId, id, length, device);
}
WM_RUNTIME_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call(cuDeviceGetByPCIBusId, device, id);
}

WM_RUNTIME_API cudaError_t cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return call(cuEventRecordWithFlags, event, stream, flags);
}
WM_RUNTIME_API cudaError_t cudaStreamGetId(CUstream stream, unsigned long long* id) {
  return call(cuStreamGetId, stream, id);
}
WM_RUNTIME_API cudaError_t cudaStreamAttachMemAsync(CUstream stream, void* pointer, std::size_t bytes, unsigned flags) {
  return call(cuStreamAttachMemAsync, stream, device_pointer(pointer), bytes, flags);
}
WM_RUNTIME_API cudaError_t cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call(cuThreadExchangeStreamCaptureMode, mode);
}
WM_RUNTIME_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* host, int blocks,
                                                                     int threads) {
  return wm::cudart::with_kernel(host, [&](CUfunction function) {
    return cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}
WM_RUNTIME_API cudaError_t cudaFuncGetName(const char** name, const void* host) {
  return wm::cudart::with_kernel(host, [&](CUfunction function) { return cuFuncGetName(name, function); });
}
