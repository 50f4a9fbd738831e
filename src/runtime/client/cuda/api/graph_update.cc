// Updates of executable graphs: of one node, or of all from another graph.
#include "runtime/client/cuda/api/graph_calls.h"
#include "runtime/client/cuda/api/node_operations.h"

namespace wm::cuda {
namespace {

// Gives the step of an executable graph that stands for a node the operation that `make` makes.
template <typename Make>
CUresult change_step(CUgraphExec handle, CUgraphNode node, Make&& make) {
  return with_executable(handle, [&](Context& context, GraphExecutable& executable) {
    Operation operation;
    if (const CUresult made = make(context, operation); made != CUDA_SUCCESS) return made;
    return executable.replace(node, std::move(operation));
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::change_step;
using wm::cuda::Context;
using wm::cuda::driver_of;
using wm::cuda::GraphExecutable;
using wm::cuda::NodeType;
using wm::cuda::Operation;
using wm::cuda::with_executable;

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return change_step(executable, node, [&](Context& c, Operation& o) { return wm::cuda::kernel_node(c, p, o); });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  return change_step(executable, node, [&](Context& c, Operation& o) { return wm::cuda::kernel_node(c, p, o); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D* p, CUcontext) {
  return change_step(executable, node, [&](Context& c, Operation& o) { return wm::cuda::copy_node(c, p, o); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p,
                                        CUcontext) {
  return change_step(executable, node, [&](Context& c, Operation& o) { return wm::cuda::set_node(c, p, o); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return change_step(executable, node, [&](Context&, Operation& o) { return wm::cuda::host_node(p, o); });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph child) {
  return change_step(executable, node, [&](Context& c, Operation& o) { return wm::cuda::child_node(c, child, o); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return change_step(executable, node, [&](Context& c, Operation& o) {
    return wm::cuda::event_node(c, event, NodeType::record_event, o);
  });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return change_step(executable, node,
                     [&](Context& c, Operation& o) { return wm::cuda::event_node(c, event, NodeType::wait_event, o); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr || p->type >= static_cast<int>(NodeType::allocate)) return CUDA_ERROR_INVALID_VALUE;
  return change_step(executable, node, [&](Context& c, Operation& o) {
    if (!wm::cuda::GraphNode::is_live(node)) return CUDA_ERROR_INVALID_VALUE;
    return wm::cuda::any_node(c, node->graph, p, o);
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo* info) {
  CUgraphExecUpdateResultInfo unused{};
  CUgraphExecUpdateResultInfo& result = info == nullptr ? unused : *info;
  result = {.result = CU_GRAPH_EXEC_UPDATE_ERROR, .errorNode = nullptr, .errorFromNode = nullptr};
  return with_executable(handle, [&](Context& context, GraphExecutable& executable) {
    const auto graph = driver_of(context).graphs.find(graph_handle);
    return graph == nullptr ? CUDA_ERROR_INVALID_VALUE : executable.update(*graph, result);
  });
}
CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphNode* error_node, int* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult updated = cuGraphExecUpdate_v2(handle, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return updated;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned enabled) {
  return with_executable(
      handle, [&](Context&, GraphExecutable& executable) { return executable.set_enabled(node, enabled != 0); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned* enabled) {
  return with_executable(handle, [&](Context&, GraphExecutable& executable) {
    if (enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
    bool is_enabled = false;
    const CUresult found = executable.get_enabled(node, is_enabled);
    if (found == CUDA_SUCCESS) *enabled = is_enabled ? 1 : 0;
    return found;
  });
}
