// Capture of streams into graphs.
#include "runtime/client/cuda/state/capture.h"

#include "runtime/client/cuda/api/graph_calls.h"
#include "runtime/client/cuda/interface/lasting_thread_object.h"

namespace wm::cuda {
namespace {

// The answers that all versions of cuStreamGetCaptureInfo give.
struct CaptureInfo {
  int* status = nullptr;
  std::uint64_t* id = nullptr;
  CUgraph* graph = nullptr;
  const CUgraphNode** dependencies = nullptr;
  std::size_t* count = nullptr;
};

CUresult capture_info(CUstream handle, const CaptureInfo& info) {
  return with_stream(handle, [&](Context& context, Stream& stream) {
    if (info.status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (Captures::instance().blocks_legacy(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    auto& last = LastingThreadObject<std::vector<GraphNode*>, struct CapturePositionTag>::get();
    auto at = Captures::instance().position(stream);
    last = std::move(at.last);
    *info.status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (at.capture == nullptr) return CUDA_SUCCESS;
    *info.status = at.capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (at.capture->is_invalid) return CUDA_SUCCESS;
    if (info.id != nullptr) *info.id = at.capture->id;
    if (info.graph != nullptr) {
      *info.graph = at.capture->graph.get();
      if (driver_of(context).graphs.find(*info.graph) == nullptr) driver_of(context).graphs.add(at.capture->graph);
    }
    if (info.dependencies != nullptr) *info.dependencies = last.data();
    if (info.count != nullptr) *info.count = last.size();
    return CUDA_SUCCESS;
  });
}

CUresult move_stream(CUstream handle, const CUgraphNode* nodes, std::size_t count, unsigned flags) {
  return with_stream(handle, [&](Context&, Stream& stream) {
    if ((nodes == nullptr && count != 0) || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    return Captures::instance().move(stream, {nodes, nodes + count}, flags == 0);
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Captures;
using wm::cuda::Context;
using wm::cuda::driver_of;
using wm::cuda::Graph;
using wm::cuda::GraphNode;
using wm::cuda::Stream;
using wm::cuda::with_stream;

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  return with_stream(stream, [&](Context& context, Stream& s) {
    return Captures::instance().begin(s, std::make_shared<Graph>(), {}, mode, driver_of(context).next_id());
  });
}
CUresult cuStreamBeginCapture(CUstream stream) { return cuStreamBeginCapture_v2(stream, 0); }

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* edges, std::size_t count, int mode) {
  return with_stream(stream, [&](Context& context, Stream& s) {
    if (const CUresult plain = wm::cuda::check_edges(edges, count); plain != CUDA_SUCCESS) return plain;
    const auto graph = driver_of(context).graphs.find(handle);
    std::vector<GraphNode*> after;
    if (graph == nullptr || !wm::cuda::read_dependencies(*graph, dependencies, count, after))
      return CUDA_ERROR_INVALID_VALUE;
    return Captures::instance().begin(s, graph, std::move(after), mode, driver_of(context).next_id());
  });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* handle) {
  return with_stream(stream, [&](Context& context, Stream& s) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Graph> graph;
    *handle = nullptr;
    if (const CUresult ended = Captures::instance().end(s, graph); ended != CUDA_SUCCESS) return ended;
    *handle = graph.get();
    if (driver_of(context).graphs.find(*handle) == nullptr) driver_of(context).graphs.add(std::move(graph));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  return wm::cuda::capture_info(stream, {.status = status});
}

CUresult cuStreamGetCaptureInfo(CUstream stream, int* status, std::uint64_t* id) {
  return wm::cuda::capture_info(stream, {.status = status, .id = id});
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, std::size_t* count) {
  return wm::cuda::capture_info(stream, {status, id, graph, dependencies, count});
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, const void** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return wm::cuda::capture_info(stream, {status, id, graph, dependencies, count});
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, std::size_t count, unsigned flags) {
  return wm::cuda::move_stream(stream, nodes, count, flags);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* edges,
                                              std::size_t count, unsigned flags) {
  if (const CUresult plain = wm::cuda::check_edges(edges, count); plain != CUDA_SUCCESS) return plain;
  return wm::cuda::move_stream(stream, nodes, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return CUDA_ERROR_INVALID_VALUE;
  *mode = Captures::exchange_mode(*mode);
  return CUDA_SUCCESS;
}
