#include "runtime/client/cuda/state/graph.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {
namespace {

struct LiveNodes {
  std::mutex mutex;
  std::set<const GraphNode*> nodes;
};

LiveNodes& live() {
  static auto* nodes = new LiveNodes();  // used until the process ends
  return *nodes;
}

std::uint64_t next_node_id() {
  static std::atomic<std::uint64_t> ids{0};
  return ++ids;
}

}  // namespace

GraphNode::GraphNode(Graph& graph, Operation operation)
    : graph(graph), type(operation.type), id(next_node_id()), operation(std::move(operation)) {
  const std::lock_guard lock(live().mutex);
  live().nodes.insert(this);
}

GraphNode::~GraphNode() {
  const std::lock_guard lock(live().mutex);
  live().nodes.erase(this);
}

bool GraphNode::is_live(const GraphNode* node) {
  const std::lock_guard lock(live().mutex);
  return live().nodes.contains(node);
}

GraphNode* Graph::add(Operation operation, std::vector<GraphNode*> dependencies) {
  nodes_.push_back(std::make_unique<GraphNode>(*this, std::move(operation)));
  nodes_.back()->dependencies = std::move(dependencies);
  return nodes_.back().get();
}

void Graph::remove(const GraphNode* node) {
  for (const auto& other : nodes_) std::erase(other->dependencies, node);
  std::erase_if(nodes_, [&](const auto& n) { return n.get() == node; });
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes_) {
    Operation operation = node->operation;
    if (const auto child = child_of(operation))
      operation.parameters = std::make_shared<const NodeParameters>(NodeParameters{ChildGraph{child->clone()}});
    GraphNode* made = copy->add(std::move(operation), {});
    made->original = node->id;
    copies[node.get()] = made;
  }
  for (const auto& node : nodes_) {
    for (const GraphNode* before : node->dependencies) copies.at(node.get())->dependencies.push_back(copies.at(before));
  }
  return copy;
}

bool Graph::holds(const GraphNode* node) const { return GraphNode::is_live(node) && &node->graph == this; }

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    if (node->type == NodeType::allocate || node->type == NodeType::free) return true;
    const auto child = child_of(node->operation);
    return child != nullptr && child->has_memory_nodes();
  });
}

std::shared_ptr<Graph> child_of(const Operation& operation) {
  if (operation.parameters == nullptr) return nullptr;
  const auto* child = std::get_if<ChildGraph>(&operation.parameters->value);
  return child == nullptr ? nullptr : child->graph;
}

}  // namespace wm::cuda
