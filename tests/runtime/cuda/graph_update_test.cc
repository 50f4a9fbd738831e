// Updates of executable graphs, and the questions that a program may ask about a graph.
#include <fstream>
#include <set>
#include <sstream>

#include "fixture.h"

namespace wm::cuda {
namespace {

class GraphUpdateTest : public CudaTest {
 protected:
  // A graph that sets a word to `value` and then adds `threads` to it.
  struct Counting {
    CUgraph graph = nullptr;
    CUgraphNode set = nullptr, kernel = nullptr;
  };
  Counting counting(CUdeviceptr word, unsigned value, unsigned threads, CUfunction count) {
    Counting made;
    EXPECT_EQ(cuGraphCreate(&made.graph, 0), CUDA_SUCCESS);
    const CUDA_MEMSET_NODE_PARAMS fill{word, 0, value, 4, 1, 1};
    EXPECT_EQ(cuGraphAddMemsetNode(&made.set, made.graph, nullptr, 0, &fill, context_), CUDA_SUCCESS);
    void* arguments[] = {&word};
    const CUDA_KERNEL_NODE_PARAMS launch{count, 1, 1, 1, threads, 1, 1, 0, arguments, nullptr, nullptr, nullptr};
    EXPECT_EQ(cuGraphAddKernelNode_v2(&made.kernel, made.graph, &made.set, 1, &launch), CUDA_SUCCESS);
    return made;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
    return executable;
  }
  std::uint32_t launched(CUgraphExec executable, CUdeviceptr word) {
    EXPECT_EQ(cuGraphLaunch(executable, nullptr), CUDA_SUCCESS);
    return download(word, 1)[0];
  }
};

TEST_F(GraphUpdateTest, AnUpdateTakesTheParametersOfAnEqualGraph) {
  CUfunction count = function(count_kernel(), "count");
  CUdeviceptr word = upload({0}), other = upload({0});
  const auto first = counting(word, 100, 3, count), second = counting(other, 200, 7, count);
  CUgraphExec executable = instantiate(first.graph);
  EXPECT_EQ(launched(executable, word), 103U);
  CUgraphExecUpdateResultInfo info{.result = 9, .errorNode = first.set, .errorFromNode = first.set};
  CU_OK(cuGraphExecUpdate_v2(executable, second.graph, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(info.errorNode, nullptr);
  EXPECT_EQ(launched(executable, other), 207U);
  EXPECT_EQ(download(word, 1)[0], 103U);
}

TEST_F(GraphUpdateTest, AnUpdateWithOtherNodesOrEdgesIsRefusedAndChangesNothing) {
  CUfunction count = function(count_kernel(), "count");
  CUdeviceptr word = upload({0});
  const auto first = counting(word, 100, 3, count), more = counting(word, 1, 1, count),
             loose = counting(word, 1, 1, count), other_type = counting(word, 1, 1, count);
  CUgraphExec executable = instantiate(first.graph);
  CUgraphNode extra = nullptr;
  CU_OK(cuGraphAddEmptyNode(&extra, more.graph, nullptr, 0));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, more.graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(info.errorNode, nullptr);
  CU_OK(cuGraphRemoveDependencies(loose.graph, &loose.set, &loose.kernel, 1));
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, loose.graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_NE(info.errorNode, nullptr);
  CU_OK(cuGraphDestroyNode(other_type.kernel));
  CU_OK(cuGraphAddEmptyNode(&extra, other_type.graph, &other_type.set, 1));
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, other_type.graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(info.errorNode, extra);
  EXPECT_EQ(launched(executable, word), 103U);
}

TEST_F(GraphUpdateTest, NodesOfAnExecutableGraphGetNewParameters) {
  CUfunction count = function(count_kernel(), "count");
  CUdeviceptr word = upload({0}), result = upload({0});
  auto made = counting(word, 100, 3, count);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = word;
  copy.dstDevice = result;
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  CUgraphNode copied = nullptr, host = nullptr;
  CU_OK(cuGraphAddMemcpyNode(&copied, made.graph, &made.kernel, 1, &copy, context_));
  int calls = 0, other_calls = 0;
  CUDA_HOST_NODE_PARAMS call{[](void* n) { ++*static_cast<int*>(n); }, &calls};
  CU_OK(cuGraphAddHostNode(&host, made.graph, &copied, 1, &call));
  CUgraphExec executable = instantiate(made.graph);

  CUDA_KERNEL_NODE_PARAMS launch{};
  CU_OK(cuGraphKernelNodeGetParams_v2(made.kernel, &launch));
  EXPECT_EQ(launch.func, count);
  EXPECT_EQ(launch.blockDimX, 3U);
  EXPECT_EQ(*static_cast<CUdeviceptr*>(launch.kernelParams[0]), word);
  launch.blockDimX = 5;
  CU_OK(cuGraphExecKernelNodeSetParams_v2(executable, made.kernel, &launch));
  const CUDA_MEMSET_NODE_PARAMS fill{word, 0, 40, 4, 1, 1};
  CU_OK(cuGraphExecMemsetNodeSetParams(executable, made.set, &fill, context_));
  call.userData = &other_calls;
  CU_OK(cuGraphExecHostNodeSetParams(executable, host, &call));
  EXPECT_EQ(launched(executable, result), 45U);
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(other_calls, 1);

  copy.Height = 2;  // only copies of one row can be changed
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(executable, copied, &copy, context_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecHostNodeSetParams(executable, made.set, &call), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecKernelNodeSetParams_v2(executable, nullptr, &launch), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphUpdateTest, ADisabledNodeDoesNothing) {
  CUfunction count = function(count_kernel(), "count");
  CUdeviceptr word = upload({0});
  const auto made = counting(word, 100, 3, count);
  CUgraphExec executable = instantiate(made.graph);
  unsigned enabled = 7;
  CU_OK(cuGraphNodeGetEnabled(executable, made.kernel, &enabled));
  EXPECT_EQ(enabled, 1U);
  CU_OK(cuGraphNodeSetEnabled(executable, made.kernel, 0));
  CU_OK(cuGraphNodeGetEnabled(executable, made.kernel, &enabled));
  EXPECT_EQ(enabled, 0U);
  EXPECT_EQ(launched(executable, word), 100U);
  CU_OK(cuGraphNodeSetEnabled(executable, made.kernel, 1));
  EXPECT_EQ(launched(executable, word), 103U);
}

TEST_F(GraphUpdateTest, AContainedGraphIsOneNodeAndCanBeUpdated) {
  CUfunction count = function(count_kernel(), "count");
  CUdeviceptr word = upload({0});
  const auto inner = counting(word, 100, 3, count), next = counting(word, 500, 4, count);
  CUgraph outer = nullptr;
  CU_OK(cuGraphCreate(&outer, 0));
  CUgraphNode child = nullptr;
  CU_OK(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, inner.graph));
  std::size_t nodes = 0;
  CU_OK(cuGraphGetNodes(outer, nullptr, &nodes));
  EXPECT_EQ(nodes, 1U);
  CUgraph contained = nullptr;
  CU_OK(cuGraphChildGraphNodeGetGraph(child, &contained));
  CU_OK(cuGraphGetNodes(contained, nullptr, &nodes));
  EXPECT_EQ(nodes, 2U);
  CUgraphExec executable = instantiate(outer);
  EXPECT_EQ(launched(executable, word), 103U);
  CU_OK(cuGraphExecChildGraphNodeSetParams(executable, child, next.graph));
  EXPECT_EQ(launched(executable, word), 504U);
  CU_OK(cuGraphDestroy(outer));
  EXPECT_EQ(cuGraphGetNodes(contained, nullptr, &nodes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launched(executable, word), 504U);
}

TEST_F(GraphUpdateTest, ACloneHasItsOwnNodesThatAreFoundByTheirOriginals) {
  CUfunction count = function(count_kernel(), "count");
  CUdeviceptr word = upload({0});
  const auto made = counting(word, 100, 3, count);
  CUgraph clone = nullptr;
  CU_OK(cuGraphClone(&clone, made.graph));
  CUgraphNode kernel = nullptr;
  CU_OK(cuGraphNodeFindInClone(&kernel, made.kernel, clone));
  EXPECT_NE(kernel, made.kernel);
  CUDA_KERNEL_NODE_PARAMS launch{};
  CU_OK(cuGraphKernelNodeGetParams_v2(kernel, &launch));
  launch.blockDimX = 9;
  CU_OK(cuGraphKernelNodeSetParams_v2(kernel, &launch));
  EXPECT_EQ(launched(instantiate(clone), word), 109U);
  EXPECT_EQ(launched(instantiate(made.graph), word), 103U);
  EXPECT_EQ(cuGraphNodeFindInClone(&kernel, made.kernel, made.graph), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphUpdateTest, AGraphListsItsEdgesAndRoots) {
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUgraphNode a = nullptr, b = nullptr, c = nullptr;
  CU_OK(cuGraphAddEmptyNode(&a, graph, nullptr, 0));
  CU_OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
  const CUgraphNode both[] = {a, b};
  CU_OK(cuGraphAddEmptyNode(&c, graph, both, 2));
  std::size_t count = 0;
  CU_OK(cuGraphGetEdges(graph, nullptr, nullptr, &count));
  ASSERT_EQ(count, 3U);
  CUgraphNode from[3], to[3];
  CU_OK(cuGraphGetEdges(graph, from, to, &count));
  std::set<std::pair<CUgraphNode, CUgraphNode>> edges;
  for (int i = 0; i < 3; ++i) edges.emplace(from[i], to[i]);
  EXPECT_EQ(edges, (std::set<std::pair<CUgraphNode, CUgraphNode>>{{a, b}, {a, c}, {b, c}}));
  CU_OK(cuGraphNodeGetDependentNodes(a, nullptr, &count));
  EXPECT_EQ(count, 2U);
  CU_OK(cuGraphNodeGetDependencies(c, nullptr, &count));
  EXPECT_EQ(count, 2U);
  CU_OK(cuGraphDestroyNode(a));
  CU_OK(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1U);
  int type = 0;
  EXPECT_EQ(cuGraphNodeGetType(a, &type), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddDependencies(graph, &b, &c, 1), CUDA_ERROR_INVALID_VALUE);  // it is there already
}

TEST_F(GraphUpdateTest, EventNodesRecordAndWaitAtEveryLaunch) {
  CUfunction count = function(count_kernel(), "count");
  CUdeviceptr word = upload({0});
  const auto made = counting(word, 100, 3, count);
  CUevent event = nullptr, other = nullptr;
  CU_OK(cuEventCreate(&event, 0));
  CU_OK(cuEventCreate(&other, 0));
  CUgraphNode record = nullptr;
  CU_OK(cuGraphAddEventRecordNode(&record, made.graph, &made.kernel, 1, event));
  CUgraphExec executable = instantiate(made.graph);
  CU_OK(cuGraphExecEventRecordNodeSetEvent(executable, record, other));
  CU_OK(cuGraphLaunch(executable, nullptr));
  CU_OK(cuEventSynchronize(other));
  float milliseconds = 0;
  CU_OK(cuEventElapsedTime(&milliseconds, other, other));
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, event, other), CUDA_ERROR_INVALID_HANDLE);  // never recorded
}

TEST_F(GraphUpdateTest, MemoryOfAGraphIsFreedWithIt) {
  std::size_t before = 0, during = 0, after = 0, total = 0;
  CU_OK(cuMemGetInfo_v2(&before, &total));
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS memory{};
  memory.bytesize = 1 << 20;
  CUgraphNode allocate = nullptr, set = nullptr, free = nullptr;
  CU_OK(cuGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &memory));
  const CUDA_MEMSET_NODE_PARAMS fill{memory.dptr, 0, 7, 4, 1, 1};
  CU_OK(cuGraphAddMemsetNode(&set, graph, &allocate, 1, &fill, context_));
  CUgraphExec leaking = instantiate(graph);
  CU_OK(cuGraphLaunch(leaking, nullptr));
  EXPECT_EQ(download(memory.dptr, 1)[0], 7U);
  EXPECT_EQ(cuGraphLaunch(leaking, nullptr), CUDA_ERROR_INVALID_VALUE);  // its memory is not free
  CU_OK(cuMemFree_v2(memory.dptr));
  EXPECT_EQ(cuMemFree_v2(memory.dptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphLaunch(leaking, nullptr));
  CU_OK(cuMemFreeAsync(memory.dptr, nullptr));
  CU_OK(cuGraphAddMemFreeNode(&free, graph, &set, 1, memory.dptr));
  EXPECT_EQ(cuGraphAddMemFreeNode(&free, graph, &set, 1, memory.dptr), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec executable = instantiate(graph);
  CU_OK(cuGraphLaunch(executable, nullptr));
  CU_OK(cuGraphLaunch(executable, nullptr));
  CU_OK(cuMemGetInfo_v2(&during, &total));
  EXPECT_LT(during, before);
  CU_OK(cuGraphDestroy(graph));
  CU_OK(cuGraphExecDestroy(leaking));
  CU_OK(cuGraphExecDestroy(executable));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(after, before);
}

TEST_F(GraphUpdateTest, AGraphIsPrintedForGraphviz) {
  CUfunction count = function(count_kernel(), "count");
  const auto made = counting(upload({0}), 100, 3, count);
  const std::string path = testing::TempDir() + "graph.dot";
  CU_OK(cuGraphDebugDotPrint(made.graph, path.c_str(), 0));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("digraph"), std::string::npos);
  EXPECT_NE(text.str().find("count"), std::string::npos);
  EXPECT_NE(text.str().find("\"graph_node_0\" -> \"graph_node_1\""), std::string::npos);
}

}  // namespace
}  // namespace wm::cuda
