// Graphs as text for Graphviz.
#include <fmt/format.h>
#include <fstream>
#include <map>

#include "runtime/client/cuda/api/graph_calls.h"
#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {
namespace {

const char* name_of(NodeType type) {
  switch (type) {
    case NodeType::kernel:
      return "KERNEL";
    case NodeType::memcpy:
      return "MEMCPY";
    case NodeType::memset:
      return "MEMSET";
    case NodeType::host:
      return "HOST";
    case NodeType::graph:
      return "GRAPH";
    case NodeType::empty:
      return "EMPTY";
    case NodeType::wait_event:
      return "EVENT_WAIT";
    case NodeType::record_event:
      return "EVENT_RECORD";
    case NodeType::allocate:
      return "MEM_ALLOC";
    case NodeType::free:
      return "MEM_FREE";
  }
  return "UNKNOWN";
}

// A label of several lines; names of kernels have no quotes.
std::string label_of(Driver& driver, const Operation& operation) {
  std::string label = name_of(operation.type);
  if (const auto* kernel = parameters_of<KernelNode>(operation)) {
    const auto& l = kernel->launch;
    const auto function = driver.functions.find(l.func);
    label += fmt::format("\\n{}\\n<<<({},{},{}), ({},{},{}), {}>>>", function == nullptr ? "" : function->name,
                         l.gridDimX, l.gridDimY, l.gridDimZ, l.blockDimX, l.blockDimY, l.blockDimZ, l.sharedMemBytes);
  } else if (const auto* copy = parameters_of<CUDA_MEMCPY3D>(operation)) {
    label += fmt::format("\\n{} x {} x {} bytes", copy->WidthInBytes, copy->Height, copy->Depth);
  } else if (const auto* set = parameters_of<CUDA_MEMSET_NODE_PARAMS>(operation)) {
    label += fmt::format("\\n{} x {} of {} bytes, value {}", set->width, set->height, set->elementSize, set->value);
  }
  return label;
}

void print(Driver& driver, const Graph& graph, const std::string& name, std::string& text) {
  text += fmt::format("subgraph \"cluster_{0}\" {{\nlabel=\"{0}\";\n", name);
  std::map<const GraphNode*, std::string> names;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const GraphNode& node = *graph.nodes()[i];
    names[&node] = fmt::format("{}_node_{}", name, i);
    text += fmt::format("\"{}\" [shape=box, label=\"{}\\n{}\"];\n", names[&node], i, label_of(driver, node.operation));
    if (const auto child = child_of(node.operation)) print(driver, *child, names[&node] + "_graph", text);
  }
  for (const auto& node : graph.nodes()) {
    for (const GraphNode* before : node->dependencies)
      text += fmt::format("\"{}\" -> \"{}\";\n", names[before], names[node.get()]);
  }
  text += "}\n";
}

}  // namespace
}  // namespace wm::cuda

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned) {
  return wm::cuda::with_graph(handle, [&](wm::cuda::Context& context, wm::cuda::Graph& graph) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string text = "digraph dot {\n";
    wm::cuda::print(wm::cuda::driver_of(context), graph, "graph", text);
    std::ofstream file(path);
    file << text << "}\n";
    return file.flush() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}
