// Work for a stream, and for a node of a graph.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/simulated/work_queue.h"

namespace wm::cuda {

struct NodeParameters;

// The kind of node that an operation is in a graph, numbered as CUgraphNodeType.
enum class NodeType : int {
  kernel,
  memcpy,
  memset,
  host,
  graph,
  empty,
  wait_event,
  record_event,
  allocate = 10,
  free = 11
};

// One piece of work for a stream.
struct Operation {
  runtime::WorkKind kind = runtime::WorkKind::transfer;
  std::function<CUresult()> run;
  std::function<bool()> ready;  // where given, the operation waits until it returns true
  NodeType type = NodeType::empty;
  std::shared_ptr<const NodeParameters> parameters{};  // given where the operation is a node of a graph
};

// An operation of a graph, and the earlier operations of the list that it follows.
struct GraphOperation {
  Operation operation;
  std::vector<std::size_t> dependencies;
};

}  // namespace wm::cuda
