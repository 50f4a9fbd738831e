// Functions whose parameters differ between CUDA 12 and 13 under one name: compiled for each library, with its version
// in WM_CUDART_MAJOR.
#include "runtime/client/cudart/runtime.h"

using wm::cudart::call;
using wm::cudart::remember;

namespace wm::cudart {
namespace {

CUdeviceptr pointer_value(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
CUstream own_stream(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

cudaError_t entry_point(const char* symbol, void** function, unsigned version, unsigned long long flags, int* status) {
  int found = 0;
  const CUresult result =
      cuGetProcAddress_v2(symbol, function, static_cast<int>(version), static_cast<std::uint64_t>(flags), &found);
  if (status == nullptr || result != CUDA_ERROR_NOT_FOUND) {
    if (status != nullptr) *status = found;
    return remember(result);
  }
  *status = found;
  return cudaSuccess;
}

constexpr unsigned kVersion = WM_CUDART_MAJOR * 1000;
constexpr unsigned long long kPerThreadFlag = 2;

// The flag for the thread's own stream, unless the caller has chosen a stream.
unsigned long long per_thread(unsigned long long flags) { return flags == 0 ? kPerThreadFlag : flags; }

}  // namespace
}  // namespace wm::cudart

using wm::cudart::own_stream;
using wm::cudart::pointer_value;

WM_RUNTIME_API cudaError_t cudaMemPrefetchAsync_v2(const void* pointer, std::size_t bytes, CUmemLocation location,
                                                   unsigned flags, CUstream stream) {
  return call(cuMemPrefetchAsync_v2, pointer_value(pointer), bytes, location, flags, stream);
}
WM_RUNTIME_API cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void* pointer, std::size_t bytes, CUmemLocation location,
                                                        unsigned flags, CUstream stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, location, flags, own_stream(stream));
}
WM_RUNTIME_API cudaError_t cudaMemAdvise_v2(const void* pointer, std::size_t bytes, int advice,
                                            CUmemLocation location) {
  return call(cuMemAdvise_v2, pointer_value(pointer), bytes, advice, location);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo_v2(CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,
                                                       const CUgraphNode** dependencies, std::size_t* count) {
  return call(cuStreamGetCaptureInfo_v2, stream, status, id, graph, dependencies, count);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(CUstream stream, int* status, std::uint64_t* id,
                                                            CUgraph* graph, const CUgraphNode** dependencies,
                                                            std::size_t* count) {
  return cudaStreamGetCaptureInfo_v2(own_stream(stream), status, id, graph, dependencies, count);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo_v3(CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,
                                                       const CUgraphNode** dependencies, const void** edges,
                                                       std::size_t* count) {
  return call(cuStreamGetCaptureInfo_v3, stream, status, id, graph, dependencies, edges, count);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo_v3_ptsz(CUstream stream, int* status, std::uint64_t* id,
                                                            CUgraph* graph, const CUgraphNode** dependencies,
                                                            const void** edges, std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(own_stream(stream), status, id, graph, dependencies, edges, count);
}
WM_RUNTIME_API cudaError_t cudaGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                               const CUgraphEdgeData* edges, std::size_t count, CUgraphNodeParams* p);

#if WM_CUDART_MAJOR >= 13
WM_RUNTIME_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, CUmemLocation location,
                                                unsigned flags, CUstream stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, location, flags, stream);
}
WM_RUNTIME_API cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, CUmemLocation location,
                                                     unsigned flags, CUstream stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, location, flags, own_stream(stream));
}
WM_RUNTIME_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, CUmemLocation location) {
  return cudaMemAdvise_v2(pointer, bytes, advice, location);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo(CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,
                                                    const CUgraphNode** dependencies, const void** edges,
                                                    std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo_ptsz(CUstream stream, int* status, std::uint64_t* id,
                                                         CUgraph* graph, const CUgraphNode** dependencies,
                                                         const void** edges, std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(own_stream(stream), status, id, graph, dependencies, edges, count);
}
WM_RUNTIME_API cudaError_t cudaGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                                    const CUgraphEdgeData* edges, std::size_t count) {
  return call(cuGraphAddDependencies_v2, graph, from, to, edges, count);
}
WM_RUNTIME_API cudaError_t cudaGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                                       const CUgraphEdgeData* edges, std::size_t count) {
  return call(cuGraphRemoveDependencies_v2, graph, from, to, edges, count);
}
WM_RUNTIME_API cudaError_t cudaGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges,
                                             std::size_t* count) {
  return call(cuGraphGetEdges_v2, graph, from, to, edges, count);
}
WM_RUNTIME_API cudaError_t cudaGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                                        std::size_t* count) {
  return call(cuGraphNodeGetDependencies_v2, node, nodes, edges, count);
}
WM_RUNTIME_API cudaError_t cudaGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                                          std::size_t* count) {
  return call(cuGraphNodeGetDependentNodes_v2, node, nodes, edges, count);
}
WM_RUNTIME_API cudaError_t cudaGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                            const CUgraphEdgeData* edges, std::size_t count, CUgraphNodeParams* p) {
  return cudaGraphAddNode_v2(node, graph, dependencies, edges, count, p);
}
WM_RUNTIME_API cudaError_t cudaStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes,
                                                               const CUgraphEdgeData* edges, std::size_t count,
                                                               unsigned flags) {
  return call(cuStreamUpdateCaptureDependencies_v2, stream, nodes, edges, count, flags);
}
WM_RUNTIME_API cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode* nodes,
                                                                    const CUgraphEdgeData* edges, std::size_t count,
                                                                    unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(own_stream(stream), nodes, edges, count, flags);
}
#else
WM_RUNTIME_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, CUstream stream) {
  return call(cuMemPrefetchAsync, pointer_value(pointer), bytes, device, stream);
}
WM_RUNTIME_API cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, int device,
                                                     CUstream stream) {
  return cudaMemPrefetchAsync(pointer, bytes, device, own_stream(stream));
}
WM_RUNTIME_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device) {
  return call(cuMemAdvise, pointer_value(pointer), bytes, advice, device);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo(CUstream stream, int* status, std::uint64_t* id) {
  return call(cuStreamGetCaptureInfo, stream, status, id);
}
WM_RUNTIME_API cudaError_t cudaStreamGetCaptureInfo_ptsz(CUstream stream, int* status, std::uint64_t* id) {
  return cudaStreamGetCaptureInfo(own_stream(stream), status, id);
}
WM_RUNTIME_API cudaError_t cudaGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                                    std::size_t count) {
  return call(cuGraphAddDependencies, graph, from, to, count);
}
WM_RUNTIME_API cudaError_t cudaGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                                       std::size_t count) {
  return call(cuGraphRemoveDependencies, graph, from, to, count);
}
WM_RUNTIME_API cudaError_t cudaGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return call(cuGraphGetEdges, graph, from, to, count);
}
WM_RUNTIME_API cudaError_t cudaGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
  return call(cuGraphNodeGetDependencies, node, nodes, count);
}
WM_RUNTIME_API cudaError_t cudaGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
  return call(cuGraphNodeGetDependentNodes, node, nodes, count);
}
WM_RUNTIME_API cudaError_t cudaGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                            std::size_t count, CUgraphNodeParams* p) {
  return cudaGraphAddNode_v2(node, graph, dependencies, nullptr, count, p);
}
WM_RUNTIME_API cudaError_t cudaStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, std::size_t count,
                                                               unsigned flags) {
  return call(cuStreamUpdateCaptureDependencies, stream, nodes, count, flags);
}
WM_RUNTIME_API cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode* nodes,
                                                                    std::size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(own_stream(stream), nodes, count, flags);
}
#endif

WM_RUNTIME_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                                   int* status) {
  return wm::cudart::entry_point(symbol, function, wm::cudart::kVersion, flags, status);
}
WM_RUNTIME_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                                                        int* status) {
  return wm::cudart::entry_point(symbol, function, wm::cudart::kVersion, wm::cudart::per_thread(flags), status);
}
WM_RUNTIME_API cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                            unsigned long long flags, int* status) {
  return wm::cudart::entry_point(symbol, function, version, flags, status);
}
WM_RUNTIME_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned version,
                                                                 unsigned long long flags, int* status) {
  return wm::cudart::entry_point(symbol, function, version, wm::cudart::per_thread(flags), status);
}
