// The operations of a graph's nodes, made and checked from the parameters of the API.
#pragma once

#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {

CUresult kernel_node(Context& context, const CUDA_KERNEL_NODE_PARAMS* parameters, Operation& operation);
CUresult kernel_node(Context& context, const CUDA_KERNEL_NODE_PARAMS_v1* parameters, Operation& operation);
CUresult copy_node(Context& context, const CUDA_MEMCPY3D* parameters, Operation& operation);
CUresult set_node(Context& context, const CUDA_MEMSET_NODE_PARAMS* parameters, Operation& operation);
CUresult host_node(const CUDA_HOST_NODE_PARAMS* parameters, Operation& operation);
// A node that records an event, or waits for one.
CUresult event_node(Context& context, CUevent event, NodeType type, Operation& operation);
// A node that contains a copy of a graph.
CUresult child_node(Context& context, CUgraph graph, Operation& operation);
// A node that allocates memory, whose address is known at once.
CUresult allocate_node(Context& context, std::size_t bytes, CUdeviceptr& address, Operation& operation);
// A node that frees memory that a node of this or another graph allocates.
CUresult free_node(const Graph& graph, CUdeviceptr address, Operation& operation);

// The node that cuGraphAddNode describes. CUDA_ERROR_NOT_SUPPORTED: a type that is not simulated.
CUresult any_node(Context& context, const Graph& graph, CUgraphNodeParams* parameters, Operation& operation);

// The operation of a function that the host calls.
Operation host_operation(CUhostFn function, void* data);

}  // namespace wm::cuda
