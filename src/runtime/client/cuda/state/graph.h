// Graphs: operations with dependencies, built node by node or captured from streams, and launched as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/cuda/state/operation.h"

namespace wm::cuda {

class GraphNode {
 public:
  GraphNode(Graph& graph, NodeType type, Operation operation)
      : graph(graph), type(type), operation(std::move(operation)) {}

  Graph& graph;
  const NodeType type;
  Operation operation;  // without `run` in an empty node
  std::vector<GraphNode*> dependencies;
};

class Graph {
 public:
  // Appends a node; its dependencies are nodes of this graph.
  GraphNode* add(NodeType type, Operation operation, std::vector<GraphNode*> dependencies);
  // Copies the nodes of another graph behind `dependencies`; returns an empty node behind all of them.
  GraphNode* add_graph(const Graph& other, const std::vector<GraphNode*>& dependencies);
  [[nodiscard]] bool holds(const GraphNode* node) const;
  [[nodiscard]] const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }

 private:
  std::vector<std::unique_ptr<GraphNode>> nodes_;
};

class GraphExecutable {
 public:
  // A copy of the graph's operations in an order in which every one follows its dependencies; false: there is none.
  bool assign(const Graph& graph);
  // Replaces the operation that stands for a node; false: it has no such node.
  bool replace(const GraphNode* node, Operation operation);
  // The operations of one launch.
  [[nodiscard]] std::vector<GraphOperation> operations();

 private:
  struct Step {
    const GraphNode* node;
    Operation operation;
    std::vector<std::size_t> dependencies;  // indices of earlier steps
  };
  std::mutex mutex_;
  std::vector<Step> steps_;
};

// A capture in progress: the graph that grows, and the streams that take part.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  const Stream* origin = nullptr;
  std::uint64_t id = 0;
};

}  // namespace wm::cuda
