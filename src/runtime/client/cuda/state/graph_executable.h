// An executable graph: a copy of a graph's operations that can be launched again and again, and updated in between.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/client/cuda/state/graph.h"

namespace wm::cuda {

class GraphExecutable {
 public:
  explicit GraphExecutable(std::uint64_t flags = 0) : flags(flags) {}

  // A copy of the graph's operations in an order in which every one follows its dependencies; false: there is none.
  bool assign(const Graph& graph);

  // Replaces the operation that stands for a node. CUDA_ERROR_INVALID_VALUE: it has no such node, or one that differs
  // in what cannot be changed.
  CUresult replace(const GraphNode* node, Operation operation);
  // Replaces all operations by those of a graph with the same nodes and edges, or none of them.
  CUresult update(const Graph& graph, CUgraphExecUpdateResultInfo& info);

  // A node that is not enabled does nothing. Only kernels, copies and sets can be.
  CUresult set_enabled(const GraphNode* node, bool enabled);
  CUresult get_enabled(const GraphNode* node, bool& enabled);

  // The operations of one launch, those of contained graphs among them.
  [[nodiscard]] std::vector<GraphOperation> operations();

  const std::uint64_t flags;

 private:
  struct Step {
    const GraphNode* node = nullptr;  // not followed: its graph may be gone
    std::uint64_t node_id = 0;
    Operation operation{};
    bool is_enabled = true;
    std::vector<std::size_t> dependencies{};  // indices of steps
    std::unique_ptr<GraphExecutable> child{};
  };
  struct Pairing;

  Step* find(const GraphNode* node);
  bool pair(const Graph& graph, Pairing& pairing, CUgraphExecUpdateResultInfo& info) const;
  [[nodiscard]] int check(const Graph& graph, Pairing& pairing, CUgraphExecUpdateResultInfo& info) const;
  void apply(const Graph& graph);
  void append(std::vector<GraphOperation>& all, const std::vector<std::size_t>& before,
              std::vector<std::size_t>& ends) const;

  std::mutex mutex_;
  std::vector<Step> steps_;         // as the graph's nodes
  std::vector<std::size_t> order_;  // steps, every one behind its dependencies
};

}  // namespace wm::cuda
