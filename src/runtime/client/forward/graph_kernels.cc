#include "runtime/client/forward/graph_kernels.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

// Kinds of nodes by their numbers in the driver's interface.
enum : int { kKernelNode = 0, kChildGraphNode = 4 };

std::uint64_t kernels_in(CUgraph graph) {
  const RealFunctions& f = real();
  std::size_t count = 0;
  if (f.cuGraphGetNodes == nullptr || f.cuGraphNodeGetType == nullptr || f.cuGraphChildGraphNodeGetGraph == nullptr ||
      f.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS)
    return 0;
  std::vector<CUgraphNode> nodes(count);
  if (count == 0 || f.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return 0;
  std::uint64_t kernels = 0;
  for (CUgraphNode node : nodes) {
    int kind = -1;
    CUgraph child = nullptr;
    if (f.cuGraphNodeGetType(node, &kind) != CUDA_SUCCESS) continue;
    if (kind == kKernelNode) ++kernels;
    if (kind == kChildGraphNode && f.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS)
      kernels += kernels_in(child);
  }
  return kernels;
}

CUresult added(CUresult result, const CUgraphExec* executable, CUgraph graph) {
  if (result == CUDA_SUCCESS) GraphKernels::get().add(*executable, graph);
  return result;
}

template <typename Call, typename... Arguments>
CUresult instantiate(Call call, CUgraphExec* executable, CUgraph graph, Arguments... arguments) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return added(call(executable, graph, arguments...), executable, graph);
}

}  // namespace

GraphKernels& GraphKernels::get() {
  static auto* only = new GraphKernels;
  return *only;
}

void GraphKernels::add(CUgraphExec executable, CUgraph graph) {
  const std::uint64_t kernels = kernels_in(graph);
  const std::unique_lock lock(mutex_);
  kernels_[executable] = kernels;
}

void GraphKernels::remove(CUgraphExec executable) {
  const std::unique_lock lock(mutex_);
  kernels_.erase(executable);
}

std::uint64_t GraphKernels::launches(CUgraphExec executable) const {
  const std::shared_lock lock(mutex_);
  const auto at = kernels_.find(executable);
  return at == kernels_.end() ? 1 : std::max<std::uint64_t>(at->second, 1);
}

}  // namespace wm::forward

using wm::forward::instantiate;
using wm::forward::real;

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log,
                            std::size_t bytes) {
  return instantiate(real().cuGraphInstantiate, executable, graph, error_node, log, bytes);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log,
                               std::size_t bytes) {
  return instantiate(real().cuGraphInstantiate_v2, executable, graph, error_node, log, bytes);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return instantiate(real().cuGraphInstantiateWithFlags, executable, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return instantiate(real().cuGraphInstantiateWithParams, executable, graph, parameters);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* executable, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return instantiate(real().cuGraphInstantiateWithParams_ptsz, executable, graph, parameters);
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  const auto call = real().cuGraphExecDestroy;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  wm::forward::GraphKernels::get().remove(executable);
  return call(executable);
}
