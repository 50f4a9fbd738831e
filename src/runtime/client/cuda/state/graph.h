// Graphs: operations with dependencies, built node by node or captured from streams.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/cuda/state/operation.h"

namespace wm::cuda {

class GraphNode {
 public:
  GraphNode(Graph& graph, Operation operation);
  ~GraphNode();
  GraphNode(const GraphNode&) = delete;
  GraphNode& operator=(const GraphNode&) = delete;

  // Whether an application's pointer is a node that exists.
  static bool is_live(const GraphNode* node);

  Graph& graph;
  const NodeType type;
  const std::uint64_t id;      // no other node of the process has it
  std::uint64_t original = 0;  // the node that this one was cloned from
  Operation operation;         // without `run` in an empty node
  std::vector<GraphNode*> dependencies;
};

class Graph {
 public:
  // Appends a node; its dependencies are nodes of this graph.
  GraphNode* add(Operation operation, std::vector<GraphNode*> dependencies);
  // Removes a node with its edges.
  void remove(const GraphNode* node);
  // A copy, with copies of the graphs that its nodes contain.
  [[nodiscard]] std::shared_ptr<Graph> clone() const;
  [[nodiscard]] bool holds(const GraphNode* node) const;
  // Whether it has a node that allocates or frees memory.
  [[nodiscard]] bool has_memory_nodes() const;
  [[nodiscard]] const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }

  bool is_capture_target = false;  // a capture appends to it: it cannot be instantiated, nor its nodes destroyed

 private:
  std::vector<std::unique_ptr<GraphNode>> nodes_;
};

// The graph that a node contains; nullptr: none.
std::shared_ptr<Graph> child_of(const Operation& operation);

}  // namespace wm::cuda
