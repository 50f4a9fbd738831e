// Threads and contexts, errors, devices, launches, streams and events.
#include <cstring>
#include <string>

#include "runtime/client/cudart/runtime.h"

namespace wm::cudart {

CUresult prepare() {
  if (const CUresult ready = cuInit(0); ready != CUDA_SUCCESS) return ready;
  thread_local CUcontext primary = nullptr;
  CUcontext context = nullptr;
  CUdevice device = 0;
  const bool has_current = cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != nullptr;
  // A reset ends the primary context in all threads; each gets the new one. A context of the program's own stays ended.
  const bool is_reset = has_current && context == primary && cuCtxGetDevice(&device) == CUDA_ERROR_INVALID_CONTEXT;
  if (has_current && !is_reset) return CUDA_SUCCESS;
  if (const CUresult retained = cuDevicePrimaryCtxRetain(&context, 0); retained != CUDA_SUCCESS) return retained;
  primary = context;
  return cuCtxSetCurrent(context);
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && error != CUDA_ERROR_NOT_READY) last_error() = error;
  return error;
}

namespace {

// An error that ended the context stays the last error as long as the context does.
bool is_lasting(cudaError_t error) {
  unsigned flags = 0;
  return error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchFailure && cuCtxGetFlags(&flags) == error;
}

// The runtime reports a launch that the device cannot take as a mistake in its configuration.
cudaError_t launch_error(CUresult result, const dim3& grid, const dim3& block) {
  const bool empty = grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0;
  const bool large = std::uint64_t{block.x} * block.y * block.z > 1024 || block.x > 1024 || block.y > 1024 ||
                     block.z > 64 || grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535;
  if (result == CUDA_ERROR_INVALID_VALUE && (empty || large)) return remember(cudaErrorInvalidConfiguration);
  return remember(result);
}

cudaError_t launch(const void* host, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes, CUstream stream,
                   bool cooperative) {
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  CUfunction function = nullptr;
  if (const CUresult found = find_function(host, &function); found != CUDA_SUCCESS) return remember(found);
  const auto shared = static_cast<unsigned>(shared_bytes);
  const CUresult result = cooperative ? cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                                                  block.z, shared, stream, arguments)
                                      : cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                       shared, stream, arguments, nullptr);
  return launch_error(result, grid, block);
}

}  // namespace
}  // namespace wm::cudart

using wm::cudart::call;
using wm::cudart::last_error;
using wm::cudart::remember;

WM_RUNTIME_API cudaError_t cudaGetLastError() {
  const cudaError_t last = last_error();
  if (!wm::cudart::is_lasting(last)) last_error() = cudaSuccess;
  return last;
}
WM_RUNTIME_API cudaError_t cudaPeekAtLastError() { return last_error(); }
WM_RUNTIME_API const char* cudaGetErrorString(cudaError_t error) {
  const char* text = nullptr;
  if (error == cudaErrorInvalidConfiguration) return "invalid configuration argument";
  if (error == cudaErrorInvalidSymbol) return "invalid device symbol";
  if (error == cudaErrorInvalidMemcpyDirection) return "invalid copy direction for memcpy";
  if (error == cudaErrorInvalidDeviceFunction) return "invalid device function";
  return cuGetErrorString(static_cast<CUresult>(error), &text) == CUDA_SUCCESS ? text : "unrecognized error code";
}
WM_RUNTIME_API const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define WM_RUNTIME_ERROR(name, value) \
  case name:                          \
    return #name;
#include "runtime/client/cudart/errors.def"
#undef WM_RUNTIME_ERROR
    default:
      return "unrecognized error code";
  }
}

WM_RUNTIME_API cudaError_t cudaDriverGetVersion(int* version) { return remember(cuDriverGetVersion(version)); }
WM_RUNTIME_API cudaError_t cudaRuntimeGetVersion(int* version) { return remember(cuDriverGetVersion(version)); }
WM_RUNTIME_API cudaError_t cudaGetDeviceCount(int* count) { return call(cuDeviceGetCount, count); }
WM_RUNTIME_API cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return remember(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}
WM_RUNTIME_API cudaError_t cudaSetDevice(int device) {
  if (device != 0) return remember(cudaErrorInvalidDevice);
  return remember(wm::cudart::prepare());
}
WM_RUNTIME_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
WM_RUNTIME_API cudaError_t cudaSetDeviceFlags(unsigned flags) { return call(cuDevicePrimaryCtxSetFlags_v2, 0, flags); }
WM_RUNTIME_API cudaError_t cudaGetDeviceFlags(unsigned* flags) { return call(cuCtxGetFlags, flags); }
WM_RUNTIME_API cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return call(cuDeviceGetAttribute, value, attribute, device);
}
WM_RUNTIME_API cudaError_t cudaDeviceSynchronize() { return call(cuCtxSynchronize); }
WM_RUNTIME_API cudaError_t cudaDeviceSetLimit(int limit, std::size_t value) {
  return call(cuCtxSetLimit, limit, value);
}
WM_RUNTIME_API cudaError_t cudaDeviceGetLimit(std::size_t* value, int limit) {
  return call(cuCtxGetLimit, value, limit);
}
WM_RUNTIME_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(cuCtxGetStreamPriorityRange, least, greatest);
}
WM_RUNTIME_API cudaError_t cudaDeviceSetCacheConfig(int config) { return call(cuCtxSetCacheConfig, config); }
WM_RUNTIME_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call(cuDeviceCanAccessPeer, can, device, peer);
}
WM_RUNTIME_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
WM_RUNTIME_API cudaError_t cudaProfilerStop() { return cudaSuccess; }

WM_RUNTIME_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                            std::size_t shared_bytes, CUstream stream) {
  return wm::cudart::launch(function, grid, block, arguments, shared_bytes, stream, false);
}
WM_RUNTIME_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                                       std::size_t shared_bytes, CUstream stream) {
  return wm::cudart::launch(function, grid, block, arguments, shared_bytes, stream, true);
}
// The runtime's configuration of a launch; bytes of shared memory are a size_t, other than in the driver's.
struct RuntimeLaunchConfig {
  dim3 grid, block;
  std::size_t shared_bytes;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned count;
};
WM_RUNTIME_API cudaError_t cudaLaunchKernelExC(const RuntimeLaunchConfig* c, const void* host, void** arguments) {
  if (c == nullptr) return remember(cudaErrorInvalidValue);
  CUfunction function = nullptr;
  if (const CUresult ready = wm::cudart::prepare(); ready != CUDA_SUCCESS) return remember(ready);
  if (const CUresult found = wm::cudart::find_function(host, &function); found != CUDA_SUCCESS) return remember(found);
  const CUlaunchConfig driver{
      c->grid.x, c->grid.y,     c->grid.z, c->block.x, c->block.y, c->block.z, static_cast<unsigned>(c->shared_bytes),
      c->stream, c->attributes, c->count};
  return wm::cudart::launch_error(cuLaunchKernelEx(&driver, function, arguments, nullptr), c->grid, c->block);
}
WM_RUNTIME_API cudaError_t cudaLaunchKernelExC_ptsz(const RuntimeLaunchConfig* c, const void* host, void** arguments) {
  if (c == nullptr) return remember(cudaErrorInvalidValue);
  RuntimeLaunchConfig own = *c;
  if (own.stream == nullptr) own.stream = CU_STREAM_PER_THREAD;
  return cudaLaunchKernelExC(&own, host, arguments);
}
// Newer stubs of nvcc look a kernel up once and launch it by its handle.
WM_RUNTIME_API cudaError_t __cudaGetKernel(const void** kernel, const void* host) {
  *kernel = host;
  return cudaSuccess;
}
WM_RUNTIME_API cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                              std::size_t shared_bytes, CUstream stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
WM_RUNTIME_API cudaError_t cudaGetFuncBySymbol(CUfunction* function, const void* host) {
  if (const CUresult ready = wm::cudart::prepare(); ready != CUDA_SUCCESS) return remember(ready);
  return remember(wm::cudart::find_function(host, function));
}
WM_RUNTIME_API cudaError_t cudaLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call(cuLaunchHostFunc, stream, function, data);
}

namespace wm::cudart {
namespace {

// The functions of the driver that take a CUfunction, with the kernel's address of the host.
template <typename Body>
cudaError_t with_function(const void* host, Body&& body) {
  CUfunction function = nullptr;
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  if (const CUresult found = find_function(host, &function); found != CUDA_SUCCESS) return remember(found);
  return remember(body(function));
}

}  // namespace
}  // namespace wm::cudart

using wm::cudart::with_function;

// The attributes of a kernel; the structure goes on with fields for clusters, which stay 0.
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};
WM_RUNTIME_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  return with_function(host, [&](CUfunction function) {
    const auto get = [&](CUfunction_attribute which) {
      int value = 0;
      (void)cuFuncGetAttribute(&value, which, function);
      return value;
    };
    *attributes = {static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)),
                   static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)),
                   static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)),
                   get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                   get(CU_FUNC_ATTRIBUTE_NUM_REGS),
                   get(CU_FUNC_ATTRIBUTE_PTX_VERSION),
                   get(CU_FUNC_ATTRIBUTE_BINARY_VERSION),
                   0,
                   get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
                   get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)};
    return CUDA_SUCCESS;
  });
}
WM_RUNTIME_API cudaError_t cudaFuncSetAttribute(const void* host, int attribute, int value) {
  return with_function(host, [&](CUfunction function) {
    return cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute), value);
  });
}
WM_RUNTIME_API cudaError_t cudaFuncSetCacheConfig(const void* host, int config) {
  return with_function(host, [&](CUfunction function) { return cuFuncSetCacheConfig(function, config); });
}
WM_RUNTIME_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                                         std::size_t shared) {
  return with_function(host, [&](CUfunction function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
  });
}
WM_RUNTIME_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host,
                                                                                  int threads, std::size_t shared,
                                                                                  unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, shared);
}

WM_RUNTIME_API cudaError_t cudaStreamCreate(CUstream* stream) { return call(cuStreamCreate, stream, 0U); }
WM_RUNTIME_API cudaError_t cudaStreamCreateWithFlags(CUstream* stream, unsigned flags) {
  return call(cuStreamCreate, stream, flags);
}
WM_RUNTIME_API cudaError_t cudaStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call(cuStreamCreateWithPriority, stream, flags, priority);
}
WM_RUNTIME_API cudaError_t cudaStreamDestroy(CUstream stream) { return call(cuStreamDestroy_v2, stream); }
WM_RUNTIME_API cudaError_t cudaStreamSynchronize(CUstream stream) { return call(cuStreamSynchronize, stream); }
WM_RUNTIME_API cudaError_t cudaStreamQuery(CUstream stream) { return call(cuStreamQuery, stream); }
WM_RUNTIME_API cudaError_t cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return call(cuStreamWaitEvent, stream, event, flags);
}
WM_RUNTIME_API cudaError_t cudaStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                                                 unsigned flags) {
  return call(cuStreamAddCallback, stream, callback, data, flags);
}
WM_RUNTIME_API cudaError_t cudaStreamGetPriority(CUstream stream, int* priority) {
  return call(cuStreamGetPriority, stream, priority);
}
WM_RUNTIME_API cudaError_t cudaStreamGetFlags(CUstream stream, unsigned* flags) {
  return call(cuStreamGetFlags, stream, flags);
}
WM_RUNTIME_API cudaError_t cudaStreamBeginCapture(CUstream stream, int mode) {
  return call(cuStreamBeginCapture_v2, stream, mode);
}
WM_RUNTIME_API cudaError_t cudaStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call(cuStreamEndCapture, stream, graph);
}
WM_RUNTIME_API cudaError_t cudaStreamIsCapturing(CUstream stream, int* status) {
  return call(cuStreamIsCapturing, stream, status);
}

WM_RUNTIME_API cudaError_t cudaEventCreate(CUevent* event) { return call(cuEventCreate, event, 0U); }
WM_RUNTIME_API cudaError_t cudaEventCreateWithFlags(CUevent* event, unsigned flags) {
  return call(cuEventCreate, event, flags);
}
WM_RUNTIME_API cudaError_t cudaEventRecord(CUevent event, CUstream stream) {
  return call(cuEventRecord, event, stream);
}
WM_RUNTIME_API cudaError_t cudaEventQuery(CUevent event) { return call(cuEventQuery, event); }
WM_RUNTIME_API cudaError_t cudaEventSynchronize(CUevent event) { return call(cuEventSynchronize, event); }
WM_RUNTIME_API cudaError_t cudaEventDestroy(CUevent event) { return call(cuEventDestroy_v2, event); }
WM_RUNTIME_API cudaError_t cudaEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return call(cuEventElapsedTime, milliseconds, start, end);
}
WM_RUNTIME_API cudaError_t cudaEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return call(cuEventElapsedTime, milliseconds, start, end);
}
