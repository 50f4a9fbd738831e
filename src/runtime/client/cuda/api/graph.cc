// Graphs and capture.
#include "runtime/client/cuda/state/graph.h"

#include <algorithm>

#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/api/copies.h"
#include "runtime/client/cuda/api/launch.h"

namespace wm::cuda {
namespace {

template <typename Body>
CUresult with_graph(CUgraph handle, Body&& body) {
  return with_context([&](Context& context) {
    const auto graph = driver_of(context).graphs.find(handle);
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return std::forward<Body>(body)(context, *graph);
  });
}

// Adds a node whose operation `make` makes, behind nodes of the same graph.
template <typename Make>
CUresult add_node(CUgraphNode* node, CUgraph handle, const CUgraphNode* dependencies, std::size_t count, NodeType type,
                  Make&& make) {
  return with_graph(handle, [&](Context& context, Graph& graph) {
    if (node == nullptr || (count != 0 && dependencies == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<GraphNode*> after;
    for (std::size_t i = 0; i < count; ++i) {
      if (!graph.holds(dependencies[i])) return CUDA_ERROR_INVALID_VALUE;
      after.push_back(dependencies[i]);
    }
    Operation operation;
    if (const CUresult made = make(context, operation); made != CUDA_SUCCESS) return made;
    *node = graph.add(type, std::move(operation), std::move(after));
    return CUDA_SUCCESS;
  });
}

CUresult make_launch(Context& context, CUfunction handle, const LaunchShape& shape, const LaunchParameters& parameters,
                     Operation& operation) {
  const auto function = driver_of(context).functions.find(handle);
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return launch_operation(context, *function, shape, parameters, operation);
}

template <typename Parameters>
CUresult kernel_operation(Context& context, const Parameters* p, Operation& operation) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUfunction function = p->func;
  if constexpr (requires { p->kern; }) {
    if (function == nullptr) function = p->kern;
  }
  const LaunchShape shape{
      {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes, false, 0};
  return make_launch(context, function, shape, {p->kernelParams, p->extra}, operation);
}

CUresult instantiate(CUgraphExec* executable, CUgraph handle) {
  return with_graph(handle, [&](Context& context, Graph& graph) {
    if (executable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<GraphExecutable>();
    if (!made->assign(graph)) return CUDA_ERROR_INVALID_VALUE;
    *executable = driver_of(context).graph_executables.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

// Lists with the convention of the API: without an array only the count is given, surplus places become nullptr.
CUresult list_nodes(const std::vector<CUgraphNode>& found, CUgraphNode* nodes, std::size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (nodes == nullptr) {
    *count = found.size();
    return CUDA_SUCCESS;
  }
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = i < found.size() ? found[i] : nullptr;
  *count = std::min(*count, found.size());
  return CUDA_SUCCESS;
}

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
    thread_local std::vector<GraphNode*> last;
    const auto capture = context.capture_of(stream, last);
    *info.status = capture != nullptr ? 1 : 0;
    if (capture == nullptr) return CUDA_SUCCESS;
    if (info.id != nullptr) *info.id = capture->id;
    if (info.graph != nullptr) {
      *info.graph = capture->graph.get();
      if (driver_of(context).graphs.find(*info.graph) == nullptr) driver_of(context).graphs.add(capture->graph);
    }
    if (info.dependencies != nullptr) *info.dependencies = last.data();
    if (info.count != nullptr) *info.count = last.size();
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::Graph;
using wm::cuda::NodeType;
using wm::cuda::Operation;
using wm::cuda::Stream;
using wm::cuda::with_driver;
using wm::cuda::with_graph;
using wm::cuda::with_stream;

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return with_driver([&](Driver& driver) {
    if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = driver.graphs.add(std::make_shared<Graph>());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return with_driver(
      [&](Driver& driver) { return driver.graphs.remove(graph) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return with_graph(original, [&](Context& context, Graph& graph) {
    if (clone == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto copy = std::make_shared<Graph>();
    copy->add_graph(graph, {});
    *clone = driver_of(context).graphs.add(std::move(copy));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return wm::cuda::add_node(node, graph, dependencies, count, NodeType::kernel, [&](Context& context, Operation& o) {
    return wm::cuda::kernel_operation(context, parameters, o);
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return wm::cuda::add_node(node, graph, dependencies, count, NodeType::kernel, [&](Context& context, Operation& o) {
    return wm::cuda::kernel_operation(context, parameters, o);
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext) {
  return wm::cuda::add_node(node, graph, dependencies, count, NodeType::memcpy, [&](Context& context, Operation& o) {
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto rows = wm::cuda::row_copy(*copy);
    if (!rows) return CUDA_ERROR_INVALID_VALUE;
    o = wm::cuda::copy_operation(driver_of(context), *rows);
    return wm::cuda::check(driver_of(context), *rows);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return wm::cuda::add_node(node, graph, dependencies, count, NodeType::memset, [&](Context& context, Operation& o) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const wm::cuda::RowFill fill{.to = p->dst,
                                 .pitch = p->pitch,
                                 .value = p->value,
                                 .width = p->elementSize,
                                 .count = p->width,
                                 .rows = p->height};
    if (fill.width != 1 && fill.width != 2 && fill.width != 4) return CUDA_ERROR_INVALID_VALUE;
    o = wm::cuda::fill_operation(driver_of(context), fill);
    return wm::cuda::check(driver_of(context), fill);
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                            const CUDA_HOST_NODE_PARAMS* p) {
  return wm::cuda::add_node(node, graph, dependencies, count, NodeType::host, [&](Context&, Operation& o) {
    if (p == nullptr || p->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    o.kind = wm::runtime::WorkKind::host_function;
    o.run = [fn = p->fn, data = p->userData] {
      fn(data);
      return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count) {
  return wm::cuda::add_node(node, graph, dependencies, count, NodeType::empty,
                            [](Context&, Operation&) { return CUDA_SUCCESS; });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph handle, const CUgraphNode* dependencies, std::size_t count,
                                  CUgraph child_handle) {
  return with_graph(handle, [&](Context& context, Graph& graph) {
    const auto child = driver_of(context).graphs.find(child_handle);
    if (node == nullptr || child == nullptr || child.get() == &graph) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      if (!graph.holds(dependencies[i])) return CUDA_ERROR_INVALID_VALUE;
    }
    *node = graph.add_graph(*child, {dependencies, dependencies + count});
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  return with_graph(handle, [&](Context&, Graph& graph) {
    if (count != 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      if (from[i] == to[i] || !graph.holds(from[i]) || !graph.holds(to[i])) return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
  return with_graph(handle, [&](Context&, Graph& graph) {
    std::vector<CUgraphNode> found;
    for (const auto& node : graph.nodes()) found.push_back(node.get());
    return wm::cuda::list_nodes(found, nodes, count);
  });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
  return with_graph(handle, [&](Context&, Graph& graph) {
    std::vector<CUgraphNode> found;
    for (const auto& node : graph.nodes()) {
      if (node->dependencies.empty()) found.push_back(node.get());
    }
    return wm::cuda::list_nodes(found, nodes, count);
  });
}

CUresult cuGraphNodeGetType(CUgraphNode node, int* type) {
  return with_driver([&](Driver&) {
    if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = static_cast<int>(node->type);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*, std::size_t) {
  return wm::cuda::instantiate(executable, graph);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*, std::size_t) {
  return wm::cuda::instantiate(executable, graph);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  return wm::cuda::instantiate(executable, graph);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph, void*) {
  return wm::cuda::instantiate(executable, graph);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return wm::cuda::with_context([&](Context& context) {
    const auto executable = driver_of(context).graph_executables.find(handle);
    if (executable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Operation operation;
    const CUresult made = wm::cuda::kernel_operation(context, parameters, operation);
    if (made != CUDA_SUCCESS) return made;
    return executable->replace(node, std::move(operation)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream) {
  return with_driver([&](Driver& driver) {
    return driver.graph_executables.find(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return with_stream(stream_handle, [&](Context& context, Stream& stream) {
    const auto executable = driver_of(context).graph_executables.find(handle);
    if (executable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (context.is_capturing(stream)) return CUDA_ERROR_NOT_SUPPORTED;
    context.enqueue_graph(stream, executable->operations());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return with_driver([&](Driver& driver) {
    return driver.graph_executables.remove(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  return with_stream(stream, [](Context& context, Stream& s) { return context.begin_capture(s); });
}
CUresult cuStreamBeginCapture(CUstream stream) { return cuStreamBeginCapture_v2(stream, 0); }

CUresult cuStreamEndCapture(CUstream stream, CUgraph* handle) {
  return with_stream(stream, [&](Context& context, Stream& s) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Graph> graph;
    *handle = nullptr;
    if (const CUresult ended = context.end_capture(s, graph); ended != CUDA_SUCCESS) return ended;
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

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return CUDA_ERROR_INVALID_VALUE;
  thread_local int current = 0;
  std::swap(current, *mode);
  return CUDA_SUCCESS;
}
