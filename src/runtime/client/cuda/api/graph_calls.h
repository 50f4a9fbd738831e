// The checks that functions of graphs begin with.
#pragma once

#include <algorithm>

#include "runtime/client/cuda/api/call.h"

namespace wm::cuda {

template <typename Body>
CUresult with_graph(CUgraph handle, Body&& body) {
  return with_context([&](Context& context) {
    const auto graph = driver_of(context).graphs.find(handle);
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return std::forward<Body>(body)(context, *graph);
  });
}

template <typename Body>
CUresult with_node(CUgraphNode node, Body&& body) {
  return with_context([&](Context& context) {
    if (!GraphNode::is_live(node)) return CUDA_ERROR_INVALID_VALUE;
    return std::forward<Body>(body)(context, *node);
  });
}

template <typename Body>
CUresult with_executable(CUgraphExec handle, Body&& body) {
  return with_context([&](Context& context) {
    const auto executable = driver_of(context).graph_executables.find(handle);
    if (executable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return std::forward<Body>(body)(context, *executable);
  });
}

// Edges with ports are not simulated: only a whole node can be waited for.
inline CUresult check_edges(const CUgraphEdgeData* edges, std::size_t count) {
  for (std::size_t i = 0; edges != nullptr && i < count; ++i) {
    if (edges[i].from_port != 0 || edges[i].to_port != 0 || edges[i].type != 0) {
      explain("edges of graphs with ports are not simulated");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return CUDA_SUCCESS;
}

// The nodes of a list of dependencies; false: one is not of the graph, or is there twice.
inline bool read_dependencies(const Graph& graph, const CUgraphNode* dependencies, std::size_t count,
                              std::vector<GraphNode*>& after) {
  if (count != 0 && dependencies == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!graph.holds(dependencies[i])) return false;
    if (std::find(after.begin(), after.end(), dependencies[i]) != after.end()) return false;
    after.push_back(dependencies[i]);
  }
  return true;
}

}  // namespace wm::cuda
