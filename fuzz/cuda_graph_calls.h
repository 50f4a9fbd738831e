// Calls of the CUDA driver API on graphs, their nodes, executable graphs, captures and memory pools, chosen by the
// input.
#pragma once

#include <algorithm>
#include <array>

#include "fuzz/cuda_objects.h"

namespace wm::fuzz {

// Up to three nodes, the dependencies of a call.
struct Nodes {
  Nodes(Input& in, const Objects& o) : count(in.byte() % 4) {
    for (std::size_t i = 0; i < count; ++i) at[i] = in.of(o.nodes);
  }
  std::size_t count;
  std::array<CUgraphNode, 4> at{};
};

// Parameters of a kernel node of any grid that ends soon; the words they point to live in here.
class KernelNode {
 public:
  KernelNode(Input& in, const Objects& o) : out_(in.of(o.memory)), value_(in.byte()) {
    words = {in.of(o.functions),   in.byte() % 4U, 1,       1,       in.byte(), 1, 1,
             in.byte() % 2U * 512, parameters_,    nullptr, nullptr, nullptr};
  }
  KernelNode(const KernelNode&) = delete;
  KernelNode& operator=(const KernelNode&) = delete;
  CUDA_KERNEL_NODE_PARAMS words{};

 private:
  CUdeviceptr out_;
  std::uint32_t value_;
  void* parameters_[2] = {&out_, &value_};
};

inline CUDA_MEMCPY3D copy_between(Input& in, Objects& o) {
  CUDA_MEMCPY3D copy{};
  const std::uint8_t kinds = in.byte();
  copy.srcMemoryType = kinds % 2 == 0 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = kinds % 3 == 0 ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
  copy.srcHost = o.host.data();
  copy.srcDevice = in.of(o.memory);
  copy.dstDevice = in.of(o.memory);
  copy.dstArray = in.of(o.arrays);
  copy.dstXInBytes = in.byte() % 8;
  copy.WidthInBytes = in.byte();
  copy.Height = in.byte() % 4;
  copy.Depth = in.byte() % 3;
  return copy;
}

inline CUDA_MEMSET_NODE_PARAMS set_memory(Input& in, const Objects& o) {
  return {in.of(o.memory), in.size(), in.byte(), 1U << (in.byte() % 4), in.byte(), std::size_t{in.byte()} % 4};
}

inline void host_function(void* counter) { ++*static_cast<char*>(counter); }

inline CUDA_MEM_ALLOC_NODE_PARAMS allocation(Input& in) {
  CUDA_MEM_ALLOC_NODE_PARAMS p{};
  p.poolProps.allocType = 1;
  p.poolProps.location = {1, in.byte() % 16 == 0 ? 1 : 0};
  p.bytesize = in.size();
  return p;
}

// Parameters of a node of a chosen type for the calls that take any. `kernel` owns what they point to.
inline CUgraphNodeParams any_parameters(Input& in, Objects& o, const KernelNode& kernel) {
  CUgraphNodeParams p{};
  p.type = in.byte() % 14;
  if (p.type == 0) p.kernel = kernel.words;
  if (p.type == 1) p.memcpy = {0, 0, in.of(o.contexts), copy_between(in, o)};
  if (p.type == 2) p.memset = set_memory(in, o);
  if (p.type == 3) p.host = {host_function, o.host.data()};
  if (p.type == 4) p.graph = in.of(o.graphs);
  if (p.type == 6 || p.type == 7) p.event = in.of(o.events);
  if (p.type == 10) p.alloc = allocation(in);
  if (p.type == 11) p.free = in.of(o.memory);
  return p;
}

inline void add_node(Input& in, Objects& o) {
  CUgraphNode node = nullptr;
  const CUgraph graph = in.of(o.graphs);
  const Nodes after(in, o);
  const KernelNode kernel(in, o);
  const CUDA_MEMCPY3D copy = copy_between(in, o);
  const CUDA_MEMSET_NODE_PARAMS set = set_memory(in, o);
  const CUDA_HOST_NODE_PARAMS host{host_function, o.host.data()};
  CUDA_MEM_ALLOC_NODE_PARAMS alloc = allocation(in);
  CUgraphNodeParams any = any_parameters(in, o, kernel);
  const CUgraphNode* const nodes = after.at.data();
  CUresult result = CUDA_SUCCESS;
  switch (in.byte() % 11) {
    case 0:
      result = cuGraphAddKernelNode_v2(&node, graph, nodes, after.count, &kernel.words);
      break;
    case 1:
      result = cuGraphAddMemcpyNode(&node, graph, nodes, after.count, &copy, in.of(o.contexts));
      break;
    case 2:
      result = cuGraphAddMemsetNode(&node, graph, nodes, after.count, &set, in.of(o.contexts));
      break;
    case 3:
      result = cuGraphAddHostNode(&node, graph, nodes, after.count, &host);
      break;
    case 4:
      result = cuGraphAddEmptyNode(&node, graph, nodes, after.count);
      break;
    case 5:
      result = cuGraphAddChildGraphNode(&node, graph, nodes, after.count, in.of(o.graphs));
      break;
    case 6:
      result = cuGraphAddEventRecordNode(&node, graph, nodes, after.count, in.of(o.events));
      break;
    case 7:
      result = cuGraphAddEventWaitNode(&node, graph, nodes, after.count, in.of(o.events));
      break;
    case 8:
      result = cuGraphAddMemAllocNode(&node, graph, nodes, after.count, &alloc);
      keep(result, o.memory, alloc.dptr);
      break;
    case 9:
      result = cuGraphAddMemFreeNode(&node, graph, nodes, after.count, in.of(o.memory));
      break;
    default:
      result = cuGraphAddNode(&node, graph, nodes, after.count, &any);
  }
  keep(result, o.nodes, node);
}

// Questions about a graph and a node, into arrays that may be too short.
inline void ask_graph(Input& in, const Objects& o) {
  std::array<CUgraphNode, 8> from{}, to{};
  const CUgraph graph = in.of(o.graphs);
  const CUgraphNode node = in.of(o.nodes);
  const auto room = [&] { return std::size_t{in.byte()} % 9; };
  std::size_t count = room();
  (void)cuGraphGetNodes(graph, from.data(), &count);
  count = room();
  (void)cuGraphGetRootNodes(graph, from.data(), &count);
  count = room();
  (void)cuGraphGetEdges(graph, from.data(), to.data(), &count);
  count = room();
  (void)cuGraphNodeGetDependencies(node, from.data(), &count);
  count = room();
  (void)cuGraphNodeGetDependentNodes(node, from.data(), &count);
  int type = 0;
  (void)cuGraphNodeGetType(node, &type);
  CUDA_KERNEL_NODE_PARAMS kernel{};
  (void)cuGraphKernelNodeGetParams_v2(node, &kernel);
  CUDA_MEMCPY3D copy{};
  (void)cuGraphMemcpyNodeGetParams(node, &copy);
  CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
  (void)cuGraphMemAllocNodeGetParams(node, &alloc);
  CUdeviceptr address = 0;
  (void)cuGraphMemFreeNodeGetParams(node, &address);
}

inline void graph_call(Input& in, Objects& o) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  const KernelNode kernel(in, o);
  switch (in.byte() % 12) {
    case 0:
      return keep(cuGraphCreate(&graph, 0), o.graphs, graph);
    case 1:
      return keep(cuGraphClone(&graph, in.of(o.graphs)), o.graphs, graph);
    case 2:
      (void)cuGraphDestroy(in.of(o.graphs));
      return;
    case 3:
      (void)cuGraphDestroyNode(in.of(o.nodes));
      return;
    case 4:
    case 5: {
      const Nodes from(in, o), to(in, o);
      const auto change = in.byte() % 3 == 0 ? cuGraphRemoveDependencies : cuGraphAddDependencies;
      (void)change(in.of(o.graphs), from.at.data(), to.at.data(), std::min(from.count, to.count));
      return;
    }
    case 6:
      return keep(cuGraphNodeFindInClone(&node, in.of(o.nodes), in.of(o.graphs)), o.nodes, node);
    case 7:
      return keep(cuGraphChildGraphNodeGetGraph(in.of(o.nodes), &graph), o.graphs, graph);
    case 8:
      (void)cuGraphKernelNodeSetParams_v2(in.of(o.nodes), &kernel.words);
      return;
    case 9: {
      CUgraphNodeParams any = any_parameters(in, o, kernel);
      (void)cuGraphNodeSetParams(in.of(o.nodes), &any);
      return;
    }
    case 10:
      ask_graph(in, o);
      return;
    default:
      return keep(cuGraphInstantiateWithFlags(&executable, in.of(o.graphs), in.byte() % 16), o.executables, executable);
  }
}

inline void executable_call(Input& in, Objects& o) {
  const CUgraphExec executable = in.of(o.executables);
  const CUgraphNode node = in.of(o.nodes);
  const KernelNode kernel(in, o);
  unsigned enabled = 0;
  switch (in.byte() % 12) {
    case 0:
      (void)cuGraphExecKernelNodeSetParams_v2(executable, node, &kernel.words);
      return;
    case 1: {
      const CUDA_MEMCPY3D copy = copy_between(in, o);
      (void)cuGraphExecMemcpyNodeSetParams(executable, node, &copy, in.of(o.contexts));
      return;
    }
    case 2: {
      const CUDA_MEMSET_NODE_PARAMS set = set_memory(in, o);
      (void)cuGraphExecMemsetNodeSetParams(executable, node, &set, in.of(o.contexts));
      return;
    }
    case 3:
      (void)cuGraphExecChildGraphNodeSetParams(executable, node, in.of(o.graphs));
      return;
    case 4:
      (void)cuGraphExecEventRecordNodeSetEvent(executable, node, in.of(o.events));
      (void)cuGraphExecEventWaitNodeSetEvent(executable, node, in.of(o.events));
      return;
    case 5: {
      CUgraphNodeParams any = any_parameters(in, o, kernel);
      (void)cuGraphExecNodeSetParams(executable, node, &any);
      return;
    }
    case 6:
    case 7: {
      CUgraphExecUpdateResultInfo info{};
      (void)cuGraphExecUpdate_v2(executable, in.of(o.graphs), &info);
      return;
    }
    case 8:
      (void)cuGraphNodeSetEnabled(executable, node, in.byte() % 2);
      (void)cuGraphNodeGetEnabled(executable, node, &enabled);
      return;
    case 9:
      (void)cuGraphExecDestroy(executable);
      return;
    default:
      (void)cuGraphLaunch(executable, in.of(o.streams));
  }
}

}  // namespace wm::fuzz
