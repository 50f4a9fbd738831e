#include "runtime/client/cuda/state/graph_executable.h"

#include <algorithm>
#include <map>
#include <optional>

#include "exec/address_space.h"
#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {
namespace {

bool is_of_device(CUdeviceptr address) { return address >= exec::kGlobalBase && address < exec::kGlobalEnd; }

// The kind of memory on one side of a copy: of the host, of the device, an array.
CUmemorytype kind_of(CUmemorytype type, CUdeviceptr address) {
  if (type != CU_MEMORYTYPE_UNIFIED) return type;
  return is_of_device(address) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

bool is_one_row(const CUDA_MEMCPY3D& copy) { return copy.Height <= 1 && copy.Depth <= 1; }

bool has_same_memory(const CUDA_MEMCPY3D& a, const CUDA_MEMCPY3D& b) {
  return kind_of(a.srcMemoryType, a.srcDevice) == kind_of(b.srcMemoryType, b.srcDevice) &&
         kind_of(a.dstMemoryType, a.dstDevice) == kind_of(b.dstMemoryType, b.dstDevice);
}

bool has_same_rows(const CUDA_MEMSET_NODE_PARAMS& a, const CUDA_MEMSET_NODE_PARAMS& b) {
  if (a.height != b.height) return false;
  return a.height <= 1 || (a.width == b.width && a.elementSize == b.elementSize && a.pitch == b.pitch);
}

const void* memory_of(const Operation& operation) {
  if (const auto* taken = parameters_of<std::shared_ptr<GraphMemory>>(operation)) return taken->get();
  const auto* freed = parameters_of<FreeNode>(operation);
  return freed == nullptr ? nullptr : freed->memory.get();
}

// Why an operation of the same type cannot take another's place, as CUgraphExecUpdateResult; 0: it can.
int refusal(const Operation& old, const Operation& next) {
  const auto *kernel = parameters_of<KernelNode>(old), *next_kernel = parameters_of<KernelNode>(next);
  if (kernel != nullptr && next_kernel != nullptr) {
    if (kernel->context != next_kernel->context) return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    return kernel->is_cooperative == next_kernel->is_cooperative ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                                 : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }
  const auto *copy = parameters_of<CUDA_MEMCPY3D>(old), *next_copy = parameters_of<CUDA_MEMCPY3D>(next);
  if (copy != nullptr && next_copy != nullptr && !has_same_memory(*copy, *next_copy))
    return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  const auto *set = parameters_of<CUDA_MEMSET_NODE_PARAMS>(old),
             *next_set = parameters_of<CUDA_MEMSET_NODE_PARAMS>(next);
  if (set != nullptr && next_set != nullptr && !has_same_rows(*set, *next_set))
    return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  return memory_of(old) == memory_of(next) ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
}

// The nodes that no other node follows, in their order.
std::vector<const GraphNode*> exit_nodes(const Graph& graph) {
  std::vector<const GraphNode*> exits;
  for (const auto& node : graph.nodes()) {
    const bool is_followed = std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& other) {
      const auto& before = other->dependencies;
      return std::find(before.begin(), before.end(), node.get()) != before.end();
    });
    if (!is_followed) exits.push_back(node.get());
  }
  return exits;
}

}  // namespace

// The node of another graph that stands at the place of each step.
struct GraphExecutable::Pairing {
  std::vector<const GraphNode*> nodes;
  std::map<const GraphNode*, std::size_t> steps;

  bool add(std::size_t step, const GraphNode* node) {
    if (nodes[step] != nullptr || steps.contains(node)) return false;
    nodes[step] = node;
    steps[node] = step;
    return true;
  }
};

bool GraphExecutable::assign(const Graph& graph) {
  std::vector<Step> steps;
  std::map<const GraphNode*, std::size_t> index;
  for (const auto& node : graph.nodes()) {
    index[node.get()] = steps.size();
    steps.push_back({.node = node.get(), .node_id = node->id, .operation = node->operation});
    if (const auto child = child_of(node->operation)) {
      steps.back().child = std::make_unique<GraphExecutable>();
      if (!steps.back().child->assign(*child)) return false;
    }
  }
  std::vector<std::size_t> order, missing(steps.size());
  std::vector<std::vector<std::size_t>> followers(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const GraphNode* before : graph.nodes()[i]->dependencies) {
      steps[i].dependencies.push_back(index.at(before));
      followers[index.at(before)].push_back(i);
    }
    missing[i] = steps[i].dependencies.size();
    if (missing[i] == 0) order.push_back(i);
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    for (const std::size_t next : followers[order[done]]) {
      if (--missing[next] == 0) order.push_back(next);
    }
  }
  if (order.size() != steps.size()) return false;  // a cycle
  const std::lock_guard lock(mutex_);
  steps_ = std::move(steps);
  order_ = std::move(order);
  return true;
}

GraphExecutable::Step* GraphExecutable::find(const GraphNode* node) {
  for (Step& step : steps_) {
    if (step.node == node && (!GraphNode::is_live(node) || step.node_id == node->id)) return &step;
    if (step.child == nullptr) continue;
    if (Step* inner = step.child->find(node)) return inner;
  }
  return nullptr;
}

CUresult GraphExecutable::replace(const GraphNode* node, Operation operation) {
  const std::lock_guard lock(mutex_);
  Step* step = find(node);
  if (step == nullptr || step->operation.type != operation.type) return CUDA_ERROR_INVALID_VALUE;
  if (const auto child = child_of(operation)) {
    CUgraphExecUpdateResultInfo info{};
    return step->child->update(*child, info) == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  if (refusal(step->operation, operation) != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto *copy = parameters_of<CUDA_MEMCPY3D>(step->operation), *next = parameters_of<CUDA_MEMCPY3D>(operation);
  if (copy != nullptr && next != nullptr && !(is_one_row(*copy) && is_one_row(*next))) return CUDA_ERROR_INVALID_VALUE;
  step->operation = std::move(operation);
  return CUDA_SUCCESS;
}

// Nodes are paired from those that nothing follows, and on along the edges in their order.
bool GraphExecutable::pair(const Graph& graph, Pairing& pairing, CUgraphExecUpdateResultInfo& info) const {
  pairing.nodes.assign(steps_.size(), nullptr);
  if (graph.nodes().size() != steps_.size()) return false;
  std::vector<bool> is_followed(steps_.size(), false);
  for (const Step& step : steps_) {
    for (const std::size_t before : step.dependencies) is_followed[before] = true;
  }
  const auto exits = exit_nodes(graph);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (is_followed[i]) continue;
    if (open.size() == exits.size()) return false;
    pairing.add(i, exits[open.size()]);
    open.push_back(i);
  }
  if (open.size() < exits.size()) {
    info.errorNode = const_cast<GraphNode*>(exits[open.size()]);
    return false;
  }
  while (!open.empty()) {
    const std::size_t step = open.back();
    open.pop_back();
    const GraphNode* node = pairing.nodes[step];
    const auto& before = steps_[step].dependencies;
    info.errorNode = const_cast<GraphNode*>(node);
    if (before.size() != node->dependencies.size()) return false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (pairing.nodes[before[i]] == node->dependencies[i]) continue;
      info.errorFromNode = node->dependencies[i];
      if (!pairing.add(before[i], node->dependencies[i])) return false;
      open.push_back(before[i]);
    }
    info.errorNode = info.errorFromNode = nullptr;
  }
  return pairing.steps.size() == steps_.size();
}

int GraphExecutable::check(const Graph& graph, Pairing& pairing, CUgraphExecUpdateResultInfo& info) const {
  if (!pair(graph, pairing, info)) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const GraphNode& node = *pairing.nodes[i];
    info.errorNode = const_cast<GraphNode*>(&node);
    if (node.type != steps_[i].operation.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (const auto child = child_of(node.operation)) {
      Pairing inner;
      if (const int refused = steps_[i].child->check(*child, inner, info); refused != 0) return refused;
      continue;
    }
    if (const int refused = refusal(steps_[i].operation, node.operation); refused != 0) return refused;
  }
  info.errorNode = nullptr;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

void GraphExecutable::apply(const Graph& graph) {
  Pairing pairing;
  CUgraphExecUpdateResultInfo info{};
  if (!pair(graph, pairing, info)) return;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].operation = pairing.nodes[i]->operation;
    if (steps_[i].child != nullptr) steps_[i].child->apply(*child_of(steps_[i].operation));
  }
}

CUresult GraphExecutable::update(const Graph& graph, CUgraphExecUpdateResultInfo& info) {
  const std::lock_guard lock(mutex_);
  Pairing pairing;
  info = {};
  info.result = check(graph, pairing, info);
  if (info.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  apply(graph);
  return CUDA_SUCCESS;
}

CUresult GraphExecutable::set_enabled(const GraphNode* node, bool enabled) {
  const std::lock_guard lock(mutex_);
  Step* step = find(node);
  if (step == nullptr || step->operation.type > NodeType::memset) return CUDA_ERROR_INVALID_VALUE;
  step->is_enabled = enabled;
  return CUDA_SUCCESS;
}

CUresult GraphExecutable::get_enabled(const GraphNode* node, bool& enabled) {
  const std::lock_guard lock(mutex_);
  const Step* step = find(node);
  if (step == nullptr || step->operation.type > NodeType::memset) return CUDA_ERROR_INVALID_VALUE;
  enabled = step->is_enabled;
  return CUDA_SUCCESS;
}

void GraphExecutable::append(std::vector<GraphOperation>& all, const std::vector<std::size_t>& before,
                             std::vector<std::size_t>& ends) const {
  std::vector<std::size_t> place(steps_.size());  // the index of each step in `all`
  for (const std::size_t i : order_) {
    const Step& step = steps_[i];
    std::vector<std::size_t> after = before;
    for (const std::size_t d : step.dependencies) after.push_back(place[d]);
    if (step.child != nullptr) {
      std::vector<std::size_t> inner;
      step.child->append(all, after, inner);
      after.insert(after.end(), inner.begin(), inner.end());
    }
    place[i] = all.size();
    all.push_back({step.is_enabled && step.child == nullptr ? step.operation : Operation{}, std::move(after)});
    ends.push_back(place[i]);
  }
}

std::vector<GraphOperation> GraphExecutable::operations() {
  const std::lock_guard lock(mutex_);
  std::vector<GraphOperation> all;
  std::vector<std::size_t> ends;
  append(all, {}, ends);
  return all;
}

}  // namespace wm::cuda
