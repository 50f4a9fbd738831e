// Graphs: their nodes and edges, and launches of executable graphs.
#include <algorithm>
#include <set>

#include "runtime/client/cuda/api/graph_calls.h"
#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {
namespace {

constexpr std::uint64_t kKnownFlags =
    CU_GRAPH_INSTANTIATE_AUTO_FREE_ON_LAUNCH | CU_GRAPH_INSTANTIATE_UPLOAD | CU_GRAPH_INSTANTIATE_USE_NODE_PRIORITY;

CUresult instantiate(CUgraphExec* executable, CUgraph handle, std::uint64_t flags) {
  return with_graph(handle, [&](Context& context, Graph& graph) {
    if (executable == nullptr || graph.is_capture_target) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_GRAPH_INSTANTIATE_DEVICE_LAUNCH) != 0) {
      explain("graphs that kernels launch are not simulated");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    if ((flags & ~kKnownFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<GraphExecutable>(flags);
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

void clear_edges(CUgraphEdgeData* edges, const std::size_t* count) {
  if (edges == nullptr || count == nullptr) return;
  for (std::size_t i = 0; i < *count; ++i) edges[i] = {};
}

// Forgets the handles of the graphs that a graph's nodes contain.
void forget_children(Driver& driver, const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    const auto child = child_of(node->operation);
    if (child == nullptr) continue;
    forget_children(driver, *child);
    driver.graphs.remove(child.get());
  }
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, std::size_t count, bool adds) {
  return with_graph(handle, [&](Context&, Graph& graph) {
    if (count != 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (!adds && graph.has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    std::set<std::pair<CUgraphNode, CUgraphNode>> edges;
    for (std::size_t i = 0; i < count; ++i) {
      if (from[i] == to[i] || !graph.holds(from[i]) || !graph.holds(to[i])) return CUDA_ERROR_INVALID_VALUE;
      const auto& before = to[i]->dependencies;
      const bool exists = std::find(before.begin(), before.end(), from[i]) != before.end();
      if (exists == adds || !edges.emplace(from[i], to[i]).second) return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (adds) {
        to[i]->dependencies.push_back(from[i]);
      } else {
        std::erase(to[i]->dependencies, from[i]);
      }
    }
    return CUDA_SUCCESS;
  });
}

// A launch takes the memory that its graph allocates and does not free, and gives back memory of other graphs.
CUresult take_memory(const std::vector<GraphOperation>& operations, std::uint64_t flags) {
  std::set<GraphMemory*> taken, freed;
  for (const GraphOperation& step : operations) {
    if (const auto* memory = parameters_of<std::shared_ptr<GraphMemory>>(step.operation)) taken.insert(memory->get());
    if (const auto* node = parameters_of<FreeNode>(step.operation)) freed.insert(node->memory.get());
  }
  for (GraphMemory* memory : freed) {
    if (!taken.contains(memory) && !memory->give_back()) return CUDA_ERROR_INVALID_VALUE;
  }
  for (GraphMemory* memory : taken) {
    const bool frees_first = (flags & CU_GRAPH_INSTANTIATE_AUTO_FREE_ON_LAUNCH) != 0;
    if (!freed.contains(memory) && !memory->take() && !frees_first) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::Graph;
using wm::cuda::GraphExecutable;
using wm::cuda::GraphNode;
using wm::cuda::Stream;
using wm::cuda::with_driver;
using wm::cuda::with_graph;
using wm::cuda::with_node;

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return with_driver([&](Driver& driver) {
    if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = driver.graphs.add(std::make_shared<Graph>());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return with_driver([&](Driver& driver) {
    const auto graph = driver.graphs.remove(handle);
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    wm::cuda::forget_children(driver, *graph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return with_graph(original, [&](Context& context, Graph& graph) {
    if (clone == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (graph.has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    *clone = driver_of(context).graphs.add(graph.clone());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  return with_graph(clone, [&](Context&, Graph& graph) {
    if (node == nullptr || !GraphNode::is_live(original)) return CUDA_ERROR_INVALID_VALUE;
    const auto& nodes = graph.nodes();
    const auto at =
        std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n->original == original->id; });
    if (at == nodes.end()) return CUDA_ERROR_INVALID_VALUE;
    *node = at->get();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return with_node(handle, [&](Context& context, GraphNode& node) {
    if (node.graph.is_capture_target) return CUDA_ERROR_INVALID_VALUE;  // the next captured node may follow it
    if (node.graph.has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    if (const auto child = child_of(node.operation)) {
      wm::cuda::forget_children(driver_of(context), *child);
      driver_of(context).graphs.remove(child.get());
    }
    node.graph.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  return wm::cuda::change_edges(graph, from, to, count, true);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edges, std::size_t count) {
  if (const CUresult plain = wm::cuda::check_edges(edges, count); plain != CUDA_SUCCESS) return plain;
  return wm::cuda::change_edges(graph, from, to, count, true);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  return wm::cuda::change_edges(graph, from, to, count, false);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edges, std::size_t count) {
  if (const CUresult plain = wm::cuda::check_edges(edges, count); plain != CUDA_SUCCESS) return plain;
  return wm::cuda::change_edges(graph, from, to, count, false);
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

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return with_graph(handle, [&](Context&, Graph& graph) {
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> before, after;
    for (const auto& node : graph.nodes()) {
      for (GraphNode* dependency : node->dependencies) {
        before.push_back(dependency);
        after.push_back(node.get());
      }
    }
    std::size_t room = *count;
    (void)wm::cuda::list_nodes(before, from, &room);
    return wm::cuda::list_nodes(after, to, count);
  });
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges,
                            std::size_t* count) {
  wm::cuda::clear_edges(edges, count);
  return cuGraphGetEdges(graph, from, to, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, std::size_t* count) {
  return with_node(handle,
                   [&](Context&, GraphNode& node) { return wm::cuda::list_nodes(node.dependencies, nodes, count); });
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                       std::size_t* count) {
  wm::cuda::clear_edges(edges, count);
  return cuGraphNodeGetDependencies(node, nodes, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* nodes, std::size_t* count) {
  return with_node(handle, [&](Context&, GraphNode& node) {
    std::vector<CUgraphNode> found;
    for (const auto& other : node.graph.nodes()) {
      const auto& before = other->dependencies;
      if (std::find(before.begin(), before.end(), handle) != before.end()) found.push_back(other.get());
    }
    return wm::cuda::list_nodes(found, nodes, count);
  });
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                         std::size_t* count) {
  wm::cuda::clear_edges(edges, count);
  return cuGraphNodeGetDependentNodes(node, nodes, count);
}

CUresult cuGraphNodeGetType(CUgraphNode handle, int* type) {
  return with_node(handle, [&](Context&, GraphNode& node) {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = static_cast<int>(node.type);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*, std::size_t) {
  return wm::cuda::instantiate(executable, graph, 0);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*, std::size_t) {
  return wm::cuda::instantiate(executable, graph, 0);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return wm::cuda::instantiate(executable, graph, flags);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  p->hErrNode_out = nullptr;
  const CUresult made = wm::cuda::instantiate(executable, graph, p->flags);
  p->result_out = made == CUDA_SUCCESS ? 0 : 1;
  return made;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, std::uint64_t* flags) {
  return wm::cuda::with_executable(handle, [&](Context&, GraphExecutable& executable) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = executable.flags & ~std::uint64_t{CU_GRAPH_INSTANTIATE_UPLOAD};
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  return wm::cuda::with_work_stream(stream, [&](Context& context, Stream&) {
    return driver_of(context).graph_executables.find(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return wm::cuda::with_work_stream(stream_handle, [&](Context& context, Stream& stream) {
    const auto executable = driver_of(context).graph_executables.find(handle);
    if (executable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (Context::is_capturing(stream)) {
      wm::cuda::explain("a launch of a graph cannot be captured");
      wm::cuda::Captures::instance().invalidate(stream);
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    auto operations = executable->operations();
    if (const CUresult taken = wm::cuda::take_memory(operations, executable->flags); taken != CUDA_SUCCESS)
      return taken;
    context.enqueue_graph(stream, std::move(operations));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return with_driver([&](Driver& driver) {
    return driver.graph_executables.remove(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}
