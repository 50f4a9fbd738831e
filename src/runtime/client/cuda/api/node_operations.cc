#include "runtime/client/cuda/api/node_operations.h"

#include <algorithm>

#include "runtime/client/cuda/api/copies.h"
#include "runtime/client/cuda/api/launch.h"

namespace wm::cuda {
namespace {

template <typename Parameters>
std::shared_ptr<const NodeParameters> keep(Parameters parameters) {
  return std::make_shared<const NodeParameters>(NodeParameters{std::move(parameters)});
}

}  // namespace

CUresult kernel_node(Context& context, const CUDA_KERNEL_NODE_PARAMS* p, Operation& operation) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto function = driver_of(context).functions.find(p->func != nullptr ? p->func : p->kern);
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const LaunchShape shape{
      {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes, false, 0};
  const LaunchParameters parameters{p->kernelParams, p->extra};
  const CUresult made = launch_operation(context, *function, shape, parameters, operation);
  if (made == CUDA_SUCCESS) operation.parameters = launch_parameters(context, *function, shape, parameters);
  return made;
}

CUresult kernel_node(Context& context, const CUDA_KERNEL_NODE_PARAMS_v1* p, Operation& operation) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS parameters{p->func,         p->gridDimX,  p->gridDimY,  p->gridDimZ,
                                           p->blockDimX,    p->blockDimY, p->blockDimZ, p->sharedMemBytes,
                                           p->kernelParams, p->extra,     nullptr,      nullptr};
  return kernel_node(context, &parameters, operation);
}

CUresult copy_node(Context& context, const CUDA_MEMCPY3D* copy, Operation& operation) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto rows = row_copy(*copy);
  if (!rows) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult valid = check(driver_of(context), *rows); valid != CUDA_SUCCESS) return valid;
  operation = copy_operation(driver_of(context), *rows);
  operation.parameters = keep(*copy);
  return CUDA_SUCCESS;
}

CUresult set_node(Context& context, const CUDA_MEMSET_NODE_PARAMS* p, Operation& operation) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const RowFill fill{.to = p->dst,
                     .pitch = p->pitch,
                     .value = p->value,
                     .width = p->elementSize,
                     .count = p->width,
                     .rows = p->height};
  if (fill.width != 1 && fill.width != 2 && fill.width != 4) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult valid = check(driver_of(context), fill); valid != CUDA_SUCCESS) return valid;
  operation = fill_operation(driver_of(context), fill);
  operation.parameters = keep(*p);
  return CUDA_SUCCESS;
}

Operation host_operation(CUhostFn function, void* data) {
  return {runtime::WorkKind::host_function,
          [=] {
            run_host_function([&] { function(data); });
            return CUDA_SUCCESS;
          },
          {},
          NodeType::host,
          keep(CUDA_HOST_NODE_PARAMS{function, data})};
}

CUresult host_node(const CUDA_HOST_NODE_PARAMS* p, Operation& operation) {
  if (p == nullptr || p->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  operation = host_operation(p->fn, p->userData);
  return CUDA_SUCCESS;
}

CUresult event_node(Context& context, CUevent handle, NodeType type, Operation& operation) {
  const auto event = driver_of(context).events.find(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  operation.type = type;
  operation.parameters = keep(EventNode{event});
  return CUDA_SUCCESS;
}

CUresult child_node(Context& context, CUgraph handle, Operation& operation) {
  const auto graph = driver_of(context).graphs.find(handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (graph->has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
  operation.type = NodeType::graph;
  operation.parameters = keep(ChildGraph{graph->clone()});
  return CUDA_SUCCESS;
}

CUresult allocate_node(Context& context, std::size_t bytes, CUdeviceptr& address, Operation& operation) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto memory = GraphMemory::allocate(driver_of(context).memory(), bytes, &context);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  address = (*memory)->address();
  operation.type = NodeType::allocate;
  operation.parameters = keep(*memory);
  return CUDA_SUCCESS;
}

CUresult free_node(const Graph& graph, CUdeviceptr address, Operation& operation) {
  const auto memory = GraphMemory::find(address);
  if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto concerns = [&](const auto& node, bool frees) {
    const auto* allocated = parameters_of<std::shared_ptr<GraphMemory>>(node->operation);
    const auto* freed = parameters_of<FreeNode>(node->operation);
    return frees ? freed != nullptr && freed->memory == memory : allocated != nullptr && *allocated == memory;
  };
  const auto& nodes = graph.nodes();
  if (std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return concerns(n, true); }))
    return CUDA_ERROR_INVALID_VALUE;
  const bool is_own = std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return concerns(n, false); });
  if (!memory->choose_free(is_own ? GraphMemory::FreedBy::own_graph : GraphMemory::FreedBy::other_graph))
    return CUDA_ERROR_INVALID_VALUE;
  operation.type = NodeType::free;
  operation.parameters = keep(FreeNode{memory, address});
  return CUDA_SUCCESS;
}

CUresult any_node(Context& context, const Graph& graph, CUgraphNodeParams* p, Operation& operation) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (static_cast<NodeType>(p->type)) {
    case NodeType::kernel:
      return kernel_node(context, &p->kernel, operation);
    case NodeType::memcpy:
      return copy_node(context, &p->memcpy.copyParams, operation);
    case NodeType::memset:
      return set_node(context, &p->memset, operation);
    case NodeType::host:
      return host_node(&p->host, operation);
    case NodeType::graph:
      return child_node(context, p->graph, operation);
    case NodeType::empty:
      return CUDA_SUCCESS;
    case NodeType::wait_event:
    case NodeType::record_event:
      return event_node(context, p->event, static_cast<NodeType>(p->type), operation);
    case NodeType::allocate:
      return allocate_node(context, p->alloc.bytesize, p->alloc.dptr, operation);
    case NodeType::free:
      return free_node(graph, p->free, operation);
  }
  explain("nodes of type " + std::to_string(p->type) + " in graphs are not simulated");
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace wm::cuda
