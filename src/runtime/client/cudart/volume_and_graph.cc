// Copies in three dimensions, and graphs built node by node.
#include "runtime/client/cudart/runtime.h"
#include "runtime/client/cudart/volume.h"

using wm::cudart::call;
using wm::cudart::remember;

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
struct cudaMemsetParams {
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};
struct cudaKernelNodeParams {
  const void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

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

// With an array the extent and the positions in arrays count texels, else bytes.
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

}  // namespace
}  // namespace wm::cudart

WM_RUNTIME_API cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  if (memory == nullptr) return remember(cudaErrorInvalidValue);
  const std::size_t pitch =
      (extent.width + wm::cudart::kVolumePitch - 1) / wm::cudart::kVolumePitch * wm::cudart::kVolumePitch;
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

WM_RUNTIME_API cudaError_t cudaGraphCreate(CUgraph* graph, unsigned flags) { return call(cuGraphCreate, graph, flags); }
WM_RUNTIME_API cudaError_t cudaGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                 std::size_t count) {
  return call(cuGraphAddEmptyNode, node, graph, dependencies, count);
}
WM_RUNTIME_API cudaError_t cudaGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                  std::size_t count, const cudaMemsetParams* p) {
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  const CUDA_MEMSET_NODE_PARAMS fill{
      reinterpret_cast<CUdeviceptr>(p->dst), p->pitch, p->value, p->elementSize, p->width, p->height};
  return call(cuGraphAddMemsetNode, node, graph, dependencies, count, &fill, CUcontext{nullptr});
}
WM_RUNTIME_API cudaError_t cudaGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                  std::size_t count, const cudaMemcpy3DParms* p) {
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  const CUDA_MEMCPY3D copy = wm::cudart::volume_copy(*p);
  return call(cuGraphAddMemcpyNode, node, graph, dependencies, count, &copy, CUcontext{nullptr});
}
WM_RUNTIME_API cudaError_t cudaGraphAddMemcpyNode1D(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                    std::size_t count, void* to, const void* from, std::size_t bytes,
                                                    int kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  p.dstPtr = {to, bytes, bytes, 1};
  p.extent = {bytes, 1, 1};
  p.kind = kind;
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &p);
}
WM_RUNTIME_API cudaError_t cudaGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                  std::size_t count, const cudaKernelNodeParams* p) {
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  CUfunction function = nullptr;
  if (const CUresult ready = wm::cudart::prepare(); ready != CUDA_SUCCESS) return remember(ready);
  if (const CUresult found = wm::cudart::find_function(p->func, &function); found != CUDA_SUCCESS)
    return remember(found);
  const CUDA_KERNEL_NODE_PARAMS_v1 launch{function,        p->gridDim.x,  p->gridDim.y,  p->gridDim.z,
                                          p->blockDim.x,   p->blockDim.y, p->blockDim.z, p->sharedMemBytes,
                                          p->kernelParams, p->extra};
  return call(cuGraphAddKernelNode, node, graph, dependencies, count, &launch);
}
WM_RUNTIME_API cudaError_t cudaGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                std::size_t count, const CUDA_HOST_NODE_PARAMS* p) {
  return call(cuGraphAddHostNode, node, graph, dependencies, count, p);
}
WM_RUNTIME_API cudaError_t cudaGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                      std::size_t count, CUgraph child) {
  return call(cuGraphAddChildGraphNode, node, graph, dependencies, count, child);
}
WM_RUNTIME_API cudaError_t cudaGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return call(cuGraphGetNodes, graph, nodes, count);
}
WM_RUNTIME_API cudaError_t cudaGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                                         unsigned long long flags) {
  return call(cuGraphInstantiateWithFlags, executable, graph, flags);
}
WM_RUNTIME_API cudaError_t cudaGraphUpload(CUgraphExec executable, CUstream stream) {
  return call(cuGraphUpload, executable, stream);
}
