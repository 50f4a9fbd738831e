// Nodes of graphs: adding them, and reading and changing their parameters.
#include "runtime/client/cuda/api/graph_calls.h"
#include "runtime/client/cuda/api/node_operations.h"

namespace wm::cuda {
namespace {

// Adds a node whose operation `make` makes, behind nodes of the same graph.
template <typename Make>
CUresult add_node(CUgraphNode* node, CUgraph handle, const CUgraphNode* dependencies, std::size_t count, Make&& make) {
  return with_graph(handle, [&](Context& context, Graph& graph) {
    std::vector<GraphNode*> after;
    if (node == nullptr || !read_dependencies(graph, dependencies, count, after)) return CUDA_ERROR_INVALID_VALUE;
    Operation operation;
    if (const CUresult made = make(context, graph, operation); made != CUDA_SUCCESS) return made;
    *node = graph.add(std::move(operation), std::move(after));
    return CUDA_SUCCESS;
  });
}

// Gives a node the operation that `make` makes, of the same type.
template <typename Make>
CUresult change_node(CUgraphNode handle, Make&& make) {
  return with_node(handle, [&](Context& context, GraphNode& node) {
    Operation operation;
    if (const CUresult made = make(context, operation); made != CUDA_SUCCESS) return made;
    if (operation.type != node.type) return CUDA_ERROR_INVALID_VALUE;
    node.operation = std::move(operation);
    return CUDA_SUCCESS;
  });
}

template <typename Parameters, typename Read>
CUresult read_node(CUgraphNode handle, Read&& read) {
  return with_node(handle, [&](Context&, GraphNode& node) {
    const auto* parameters = parameters_of<Parameters>(node.operation);
    return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : read(*parameters, node);
  });
}

template <typename Parameters>
CUresult copy_parameters(CUgraphNode handle, Parameters* to) {
  return read_node<Parameters>(handle, [&](const Parameters& p, const GraphNode&) {
    if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *to = p;
    return CUDA_SUCCESS;
  });
}

CUresult read_event(CUgraphNode handle, NodeType type, CUevent* event) {
  return read_node<EventNode>(handle, [&](const EventNode& p, const GraphNode& node) {
    if (event == nullptr || node.type != type) return CUDA_ERROR_INVALID_VALUE;
    *event = p.event.get();
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::add_node;
using wm::cuda::change_node;
using wm::cuda::Context;
using wm::cuda::Graph;
using wm::cuda::GraphNode;
using wm::cuda::NodeType;
using wm::cuda::Operation;
using wm::cuda::read_node;

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return add_node(node, graph, dependencies, count,
                  [&](Context& c, Graph&, Operation& o) { return wm::cuda::kernel_node(c, p, o); });
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* p) {
  return add_node(node, graph, dependencies, count,
                  [&](Context& c, Graph&, Operation& o) { return wm::cuda::kernel_node(c, p, o); });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_MEMCPY3D* p, CUcontext) {
  return add_node(node, graph, dependencies, count,
                  [&](Context& c, Graph&, Operation& o) { return wm::cuda::copy_node(c, p, o); });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return add_node(node, graph, dependencies, count,
                  [&](Context& c, Graph&, Operation& o) { return wm::cuda::set_node(c, p, o); });
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                            const CUDA_HOST_NODE_PARAMS* p) {
  return add_node(node, graph, dependencies, count,
                  [&](Context&, Graph&, Operation& o) { return wm::cuda::host_node(p, o); });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count) {
  return add_node(node, graph, dependencies, count, [](Context&, Graph&, Operation&) { return CUDA_SUCCESS; });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                                  CUgraph child) {
  return add_node(node, graph, dependencies, count,
                  [&](Context& c, Graph&, Operation& o) { return wm::cuda::child_node(c, child, o); });
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                                   CUevent event) {
  return add_node(node, graph, dependencies, count, [&](Context& c, Graph&, Operation& o) {
    return wm::cuda::event_node(c, event, NodeType::record_event, o);
  });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                                 CUevent event) {
  return add_node(node, graph, dependencies, count, [&](Context& c, Graph&, Operation& o) {
    return wm::cuda::event_node(c, event, NodeType::wait_event, o);
  });
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add_node(node, graph, dependencies, count, [&](Context& c, Graph&, Operation& o) {
    return wm::cuda::allocate_node(c, p->bytesize, p->dptr, o);
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               CUdeviceptr address) {
  return add_node(node, graph, dependencies, count,
                  [&](Context&, Graph& g, Operation& o) { return wm::cuda::free_node(g, address, o); });
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                        CUgraphNodeParams* p) {
  return add_node(node, graph, dependencies, count,
                  [&](Context& c, Graph& g, Operation& o) { return wm::cuda::any_node(c, g, p, o); });
}
CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, std::size_t count, CUgraphNodeParams* p) {
  if (const CUresult plain = wm::cuda::check_edges(edges, count); plain != CUDA_SUCCESS) return plain;
  return cuGraphAddNode(node, graph, dependencies, count, p);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p) {
  return read_node<wm::cuda::KernelNode>(node, [&](const wm::cuda::KernelNode& kernel, const GraphNode&) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *p = kernel.launch;
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  CUDA_KERNEL_NODE_PARAMS all{};
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult read = cuGraphKernelNodeGetParams_v2(node, &all); read != CUDA_SUCCESS) return read;
  *p = {all.func,      all.gridDimX,  all.gridDimY,       all.gridDimZ,     all.blockDimX,
        all.blockDimY, all.blockDimZ, all.sharedMemBytes, all.kernelParams, all.extra};
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return change_node(node, [&](Context& c, Operation& o) { return wm::cuda::kernel_node(c, p, o); });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  return change_node(node, [&](Context& c, Operation& o) { return wm::cuda::kernel_node(c, p, o); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* p) { return wm::cuda::copy_parameters(node, p); }
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  return change_node(node, [&](Context& c, Operation& o) { return wm::cuda::copy_node(c, p, o); });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
  return wm::cuda::copy_parameters(node, p);
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) {
  return change_node(node, [&](Context& c, Operation& o) { return wm::cuda::set_node(c, p, o); });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* p) {
  return wm::cuda::copy_parameters(node, p);
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return change_node(node, [&](Context&, Operation& o) { return wm::cuda::host_node(p, o); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return wm::cuda::read_event(node, NodeType::record_event, event);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return change_node(
      node, [&](Context& c, Operation& o) { return wm::cuda::event_node(c, event, NodeType::record_event, o); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return wm::cuda::read_event(node, NodeType::wait_event, event);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return change_node(node,
                     [&](Context& c, Operation& o) { return wm::cuda::event_node(c, event, NodeType::wait_event, o); });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  using Memory = std::shared_ptr<wm::cuda::GraphMemory>;
  return read_node<Memory>(node, [&](const Memory& memory, const GraphNode&) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *p = {};
    p->poolProps.allocType = 1;      // pinned
    p->poolProps.location.type = 1;  // the device
    p->bytesize = memory->bytes();
    p->dptr = memory->address();
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return read_node<wm::cuda::FreeNode>(node, [&](const wm::cuda::FreeNode& freed, const GraphNode&) {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = freed.address;
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr || p->type >= static_cast<int>(NodeType::allocate)) return CUDA_ERROR_INVALID_VALUE;
  return change_node(node, [&](Context& c, Operation& o) { return wm::cuda::any_node(c, node->graph, p, o); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  return wm::cuda::with_node(handle, [&](Context& context, GraphNode& node) {
    const auto child = wm::cuda::child_of(node.operation);
    if (graph == nullptr || child == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // The handle is the node's: it is known from now on, and forgotten with the graph of the node.
    if (wm::cuda::driver_of(context).graphs.find(child.get()) == nullptr)
      wm::cuda::driver_of(context).graphs.add(child);
    *graph = child.get();
    return CUDA_SUCCESS;
  });
}
