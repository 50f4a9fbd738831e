// Nodes of graphs with kernels and copies, whose parameters differ from the driver's.
#include <cstring>

#include "runtime/client/cudart/runtime.h"
#include "runtime/client/cudart/volume.h"

// The names are those of the public CUDA headers. NOLINTBEGIN(readability-identifier-naming)
struct cudaKernelNodeParams {
  const void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaMemcpyNodeParams {
  int flags;
  int reserved[3];
  cudaMemcpy3DParms copyParams;
};
// NOLINTEND(readability-identifier-naming)

namespace wm::cudart {
namespace {

// Calls `with` with a kernel node's parameters for the driver.
template <typename With>
cudaError_t with_kernel(const cudaKernelNodeParams* p, With&& with) {
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  CUfunction function = nullptr;
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  if (const CUresult found = find_function(p->func, &function); found != CUDA_SUCCESS) return remember(found);
  const CUDA_KERNEL_NODE_PARAMS_v1 launch{function,        p->gridDim.x,  p->gridDim.y,  p->gridDim.z,
                                          p->blockDim.x,   p->blockDim.y, p->blockDim.z, p->sharedMemBytes,
                                          p->kernelParams, p->extra};
  return remember(with(&launch));
}

// The same for a copy.
template <typename With>
cudaError_t with_copy(const cudaMemcpy3DParms* p, With&& with) {
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  const CUDA_MEMCPY3D copy = volume_copy(*p);
  return remember(with(&copy));
}

cudaMemcpy3DParms row(void* to, const void* from, std::size_t bytes, int kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  p.dstPtr = {to, bytes, bytes, 1};
  p.extent = {bytes, 1, 1};
  p.kind = kind;
  return p;
}

// The address of a part of a variable of the device.
cudaError_t part_of(const void* symbol, std::size_t bytes, std::size_t offset, void** address) {
  CUdeviceptr start = 0;
  std::size_t size = 0;
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  if (const CUresult found = find_variable(symbol, &start, &size); found != CUDA_SUCCESS) return remember(found);
  if (offset > size || bytes > size - offset) return remember(cudaErrorInvalidValue);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device
  *address = reinterpret_cast<void*>(start + offset);
  return cudaSuccess;
}

// The runtime's parameters of a node of any type as the driver's: those of kernels and copies differ.
cudaError_t driver_parameters(const CUgraphNodeParams* given, CUgraphNodeParams& made) {
  if (given == nullptr) return remember(cudaErrorInvalidValue);
  made = *given;
  if (given->type == 0) {
    cudaKernelNodeParams kernel{};
    std::memcpy(&kernel, &given->kernel, sizeof kernel);
    made.kernel.kern = nullptr;
    made.kernel.ctx = nullptr;
    if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
    return remember(find_function(kernel.func, &made.kernel.func));
  }
  if (given->type == 1) {
    cudaMemcpyNodeParams copy{};
    std::memcpy(&copy, &given->memcpy, sizeof copy);
    made.memcpy = {0, 0, nullptr, volume_copy(copy.copyParams)};
  }
  return cudaSuccess;
}

cudaPitchedPtr side(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch, std::size_t width,
                    std::size_t rows) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device
  void* at = type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
  return {at, pitch, width, rows};
}

constexpr int kDefaultKind = 4;  // the addresses tell the direction

}  // namespace
}  // namespace wm::cudart

using wm::cudart::part_of;
using wm::cudart::remember;
using wm::cudart::row;
using wm::cudart::with_copy;
using wm::cudart::with_kernel;

WM_RUNTIME_API cudaError_t cudaGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                  std::size_t count, const cudaKernelNodeParams* p) {
  return with_kernel(p, [&](const auto* k) { return cuGraphAddKernelNode(node, graph, dependencies, count, k); });
}
WM_RUNTIME_API cudaError_t cudaGraphKernelNodeSetParams(CUgraphNode node, const cudaKernelNodeParams* p) {
  return with_kernel(p, [&](const auto* k) { return cuGraphKernelNodeSetParams(node, k); });
}
WM_RUNTIME_API cudaError_t cudaGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                            const cudaKernelNodeParams* p) {
  return with_kernel(p, [&](const auto* k) { return cuGraphExecKernelNodeSetParams(executable, node, k); });
}
WM_RUNTIME_API cudaError_t cudaGraphKernelNodeGetParams(CUgraphNode node, cudaKernelNodeParams* p) {
  CUDA_KERNEL_NODE_PARAMS_v1 k{};
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  const cudaError_t read = wm::cudart::call(cuGraphKernelNodeGetParams, node, &k);
  if (read != cudaSuccess) return read;
  const void* host = wm::cudart::host_of(k.func);
  *p = {host != nullptr ? host : k.func,
        {k.gridDimX, k.gridDimY, k.gridDimZ},
        {k.blockDimX, k.blockDimY, k.blockDimZ},
        k.sharedMemBytes,
        k.kernelParams,
        k.extra};
  return cudaSuccess;
}

WM_RUNTIME_API cudaError_t cudaGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                  std::size_t count, const cudaMemcpy3DParms* p) {
  return with_copy(
      p, [&](const auto* c) { return cuGraphAddMemcpyNode(node, graph, dependencies, count, c, CUcontext{nullptr}); });
}
WM_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParams(CUgraphNode node, const cudaMemcpy3DParms* p) {
  return with_copy(p, [&](const auto* c) { return cuGraphMemcpyNodeSetParams(node, c); });
}
WM_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                            const cudaMemcpy3DParms* p) {
  return with_copy(
      p, [&](const auto* c) { return cuGraphExecMemcpyNodeSetParams(executable, node, c, CUcontext{nullptr}); });
}
WM_RUNTIME_API cudaError_t cudaGraphMemcpyNodeGetParams(CUgraphNode node, cudaMemcpy3DParms* p) {
  CUDA_MEMCPY3D c{};
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  const cudaError_t read = wm::cudart::call(cuGraphMemcpyNodeGetParams, node, &c);
  if (read != cudaSuccess) return read;
  *p = {};
  p->srcArray = c.srcArray;
  p->dstArray = c.dstArray;
  p->srcPos = {c.srcXInBytes, c.srcY, c.srcZ};
  p->dstPos = {c.dstXInBytes, c.dstY, c.dstZ};
  if (c.srcArray == nullptr)
    p->srcPtr = wm::cudart::side(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcPitch, c.WidthInBytes, c.srcHeight);
  if (c.dstArray == nullptr)
    p->dstPtr = wm::cudart::side(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch, c.WidthInBytes, c.dstHeight);
  p->extent = {c.WidthInBytes, c.Height, c.Depth};
  p->kind = wm::cudart::kDefaultKind;
  return cudaSuccess;
}

WM_RUNTIME_API cudaError_t cudaGraphAddMemcpyNode1D(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                    std::size_t count, void* to, const void* from, std::size_t bytes,
                                                    int kind) {
  const cudaMemcpy3DParms p = row(to, from, bytes, kind);
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &p);
}
WM_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParams1D(CUgraphNode node, void* to, const void* from,
                                                          std::size_t bytes, int kind) {
  const cudaMemcpy3DParms p = row(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &p);
}
WM_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(CUgraphExec executable, CUgraphNode node, void* to,
                                                              const void* from, std::size_t bytes, int kind) {
  const cudaMemcpy3DParms p = row(to, from, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(executable, node, &p);
}

WM_RUNTIME_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(CUgraphNode* node, CUgraph graph,
                                                          const CUgraphNode* dependencies, std::size_t count,
                                                          const void* symbol, const void* from, std::size_t bytes,
                                                          std::size_t offset, int kind) {
  void* to = nullptr;
  if (const cudaError_t found = part_of(symbol, bytes, offset, &to); found != cudaSuccess) return found;
  return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
}
WM_RUNTIME_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(CUgraphNode* node, CUgraph graph,
                                                            const CUgraphNode* dependencies, std::size_t count,
                                                            void* to, const void* symbol, std::size_t bytes,
                                                            std::size_t offset, int kind) {
  void* from = nullptr;
  if (const cudaError_t found = part_of(symbol, bytes, offset, &from); found != cudaSuccess) return found;
  return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
}
WM_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(CUgraphNode node, const void* symbol, const void* from,
                                                                std::size_t bytes, std::size_t offset, int kind) {
  void* to = nullptr;
  if (const cudaError_t found = part_of(symbol, bytes, offset, &to); found != cudaSuccess) return found;
  return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}
WM_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(CUgraphNode node, void* to, const void* symbol,
                                                                  std::size_t bytes, std::size_t offset, int kind) {
  void* from = nullptr;
  if (const cudaError_t found = part_of(symbol, bytes, offset, &from); found != cudaSuccess) return found;
  return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}
WM_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(CUgraphExec executable, CUgraphNode node,
                                                                    const void* symbol, const void* from,
                                                                    std::size_t bytes, std::size_t offset, int kind) {
  void* to = nullptr;
  if (const cudaError_t found = part_of(symbol, bytes, offset, &to); found != cudaSuccess) return found;
  return cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
}
WM_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(CUgraphExec executable, CUgraphNode node,
                                                                      void* to, const void* symbol, std::size_t bytes,
                                                                      std::size_t offset, int kind) {
  void* from = nullptr;
  if (const cudaError_t found = part_of(symbol, bytes, offset, &from); found != cudaSuccess) return found;
  return cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
}

WM_RUNTIME_API cudaError_t cudaGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                               const CUgraphEdgeData* edges, std::size_t count, CUgraphNodeParams* p) {
  CUgraphNodeParams made{};
  if (const cudaError_t read = wm::cudart::driver_parameters(p, made); read != cudaSuccess) return read;
  const cudaError_t added = wm::cudart::call(cuGraphAddNode_v2, node, graph, dependencies, edges, count, &made);
  if (added == cudaSuccess && p->type == 10) p->alloc.dptr = made.alloc.dptr;
  return added;
}
WM_RUNTIME_API cudaError_t cudaGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  CUgraphNodeParams made{};
  if (const cudaError_t read = wm::cudart::driver_parameters(p, made); read != cudaSuccess) return read;
  return wm::cudart::call(cuGraphNodeSetParams, node, &made);
}
WM_RUNTIME_API cudaError_t cudaGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* p) {
  CUgraphNodeParams made{};
  if (const cudaError_t read = wm::cudart::driver_parameters(p, made); read != cudaSuccess) return read;
  return wm::cudart::call(cuGraphExecNodeSetParams, executable, node, &made);
}
