// The parameters that a node of a graph was made with: applications read them, and updates of executable graphs compare
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/cuda/state/graph_memory.h"
#include "runtime/client/cuda/state/operation.h"
#include "runtime/client/cuda/state/stream.h"

namespace wm::cuda {

class Graph;

// A launch, with copies of its arguments: `launch.kernelParams` points to `pointers`.
struct KernelNode {
  CUDA_KERNEL_NODE_PARAMS launch{};
  const Context* context = nullptr;
  bool is_cooperative = false;
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> pointers;
};

struct EventNode {
  std::shared_ptr<Event> event;
};

// The graph that a node contains: a copy of its own.
struct ChildGraph {
  std::shared_ptr<Graph> graph;
};

struct FreeNode {
  std::shared_ptr<GraphMemory> memory;
  CUdeviceptr address = 0;
};

// A node without parameters is empty.
struct NodeParameters {
  std::variant<std::monostate, KernelNode, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, EventNode,
               ChildGraph, std::shared_ptr<GraphMemory>, FreeNode>
      value;
};

// The parameters of one type that an operation has; nullptr: it has others.
template <typename Parameters>
const Parameters* parameters_of(const Operation& operation) {
  return operation.parameters == nullptr ? nullptr : std::get_if<Parameters>(&operation.parameters->value);
}

}  // namespace wm::cuda
