#include "runtime/client/cuda/state/graph.h"

#include <algorithm>

namespace wm::cuda {

GraphNode* Graph::add(NodeType type, Operation operation, std::vector<GraphNode*> dependencies) {
  nodes_.push_back(std::make_unique<GraphNode>(*this, type, std::move(operation)));
  nodes_.back()->dependencies = std::move(dependencies);
  return nodes_.back().get();
}

GraphNode* Graph::add_graph(const Graph& other, const std::vector<GraphNode*>& dependencies) {
  std::map<const GraphNode*, GraphNode*> copies;
  std::vector<GraphNode*> all = dependencies;
  for (const auto& node : other.nodes_) copies[node.get()] = add(node->type, node->operation, {});
  for (const auto& node : other.nodes_) {
    GraphNode* copy = copies.at(node.get());
    copy->dependencies = dependencies;
    for (const GraphNode* before : node->dependencies) copy->dependencies.push_back(copies.at(before));
    all.push_back(copy);
  }
  return add(NodeType::graph, {}, std::move(all));
}

bool Graph::holds(const GraphNode* node) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.get() == node; });
}

bool GraphExecutable::assign(const Graph& graph) {
  std::vector<Step> steps;
  std::map<const GraphNode*, std::size_t> index;
  while (steps.size() < graph.nodes().size()) {
    const std::size_t before = steps.size();
    for (const auto& node : graph.nodes()) {
      const auto& after = node->dependencies;
      if (index.contains(node.get())) continue;
      if (!std::all_of(after.begin(), after.end(), [&](const GraphNode* n) { return index.contains(n); })) continue;
      Step step{node.get(), node->operation, {}};
      for (const GraphNode* n : after) step.dependencies.push_back(index.at(n));
      index[node.get()] = steps.size();
      steps.push_back(std::move(step));
    }
    if (steps.size() == before) return false;  // a cycle
  }
  const std::lock_guard lock(mutex_);
  steps_ = std::move(steps);
  return true;
}

bool GraphExecutable::replace(const GraphNode* node, Operation operation) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) { return s.node == node; });
  if (at == steps_.end()) return false;
  at->operation = std::move(operation);
  return true;
}

std::vector<GraphOperation> GraphExecutable::operations() {
  const std::lock_guard lock(mutex_);
  std::vector<GraphOperation> all;
  for (const Step& step : steps_) all.push_back({step.operation, step.dependencies});
  return all;
}

}  // namespace wm::cuda
