// Graphs: built node by node, and captured from streams.
#include "runtime/cuda/fixture.h"

namespace wm::cuda {
namespace {

TEST_F(CudaTest, AGraphRunsItsNodesInTheirOrder) {
  CUdeviceptr word = upload({7});
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS fill{word, 0, 100, 4, 1, 1};
  CUgraphNode set = nullptr, kernel = nullptr, host = nullptr, empty = nullptr;
  CU_OK(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &fill, context_));
  void* parameters[] = {&word};
  CUDA_KERNEL_NODE_PARAMS_v1 launch_node{function(count_kernel(), "count"), 2, 1, 1, 16, 1, 1, 0, parameters, nullptr};
  CU_OK(cuGraphAddKernelNode(&kernel, graph, &set, 1, &launch_node));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS call{[](void* data) { ++*static_cast<int*>(data); }, &calls};
  CU_OK(cuGraphAddHostNode(&host, graph, &kernel, 1, &call));
  CU_OK(cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  CU_OK(cuGraphAddDependencies(graph, &host, &empty, 1));
  std::size_t count = 0;
  CU_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 4U);
  CUgraphExec executable = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CU_OK(cuGraphDestroy(graph));
  CU_OK(cuGraphLaunch(executable, nullptr));
  CU_OK(cuGraphLaunch(executable, nullptr));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(download(word, 1)[0], 132U);
  CU_OK(cuGraphExecDestroy(executable));
  EXPECT_EQ(cuGraphLaunch(executable, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, ACycleIsNoGraph) {
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUgraphNode a = nullptr, b = nullptr;
  CU_OK(cuGraphAddEmptyNode(&a, graph, nullptr, 0));
  CU_OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
  CU_OK(cuGraphAddDependencies(graph, &b, &a, 1));
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, CapturedStreamsRunNothingUntilTheGraphIsLaunched) {
  CUdeviceptr a = upload({0}), b = upload({0});
  const CUfunction count = function(count_kernel(), "count");
  CUstream first = nullptr, second = nullptr;
  CU_OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent fork = nullptr, join = nullptr;
  CU_OK(cuEventCreate(&fork, 0));
  CU_OK(cuEventCreate(&join, 0));
  CU_OK(cuStreamBeginCapture_v2(first, 0));
  CU_OK(launch(count, 1, 8, {&a}, first));
  CU_OK(cuEventRecord(fork, first));
  CU_OK(cuStreamWaitEvent(second, fork, 0));
  CU_OK(launch(count, 1, 4, {&b}, second));
  int status = 0;
  CU_OK(cuStreamIsCapturing(second, &status));
  EXPECT_EQ(status, 1);
  CU_OK(cuEventRecord(join, second));
  CU_OK(cuStreamWaitEvent(first, join, 0));
  CU_OK(cuMemcpyDtoDAsync_v2(a, b, 4, first));
  CUgraph graph = nullptr;
  CU_OK(cuStreamEndCapture(first, &graph));
  EXPECT_EQ(download(a, 1)[0], 0U);
  CUgraphExec executable = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CU_OK(cuGraphLaunch(executable, first));
  CU_OK(cuGraphLaunch(executable, first));
  CU_OK(cuStreamSynchronize(first));
  EXPECT_EQ(download(a, 1)[0], 8U);
  EXPECT_EQ(download(b, 1)[0], 8U);
}

TEST_F(CudaTest, ACaptureWithWorkThatDoesNotReturnToItsStreamIsAnError) {
  CUdeviceptr a = upload({0});
  const CUfunction count = function(count_kernel(), "count");
  CUstream first = nullptr, second = nullptr;
  CU_OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent fork = nullptr;
  CU_OK(cuEventCreate(&fork, 0));
  CU_OK(cuStreamBeginCapture_v2(first, 0));
  CU_OK(cuEventRecord(fork, first));
  CU_OK(cuStreamWaitEvent(second, fork, 0));
  CU_OK(launch(count, 1, 4, {&a}, second));
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  CU_OK(cuStreamSynchronize(second));
}

TEST_F(CudaTest, WrongDependenciesLeaveAGraphAsItIs) {
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUgraphNode a = nullptr, b = nullptr;
  CU_OK(cuGraphAddEmptyNode(&a, graph, nullptr, 0));
  CU_OK(cuGraphAddEmptyNode(&b, graph, nullptr, 0));
  EXPECT_EQ(cuGraphAddDependencies(graph, nullptr, &b, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddDependencies(graph, &a, &a, 1), CUDA_ERROR_INVALID_VALUE);
  const CUgraphNode from[] = {a, nullptr}, to[] = {b, b};
  EXPECT_EQ(cuGraphAddDependencies(graph, from, to, 2), CUDA_ERROR_INVALID_VALUE);
  std::size_t roots = 0;
  CU_OK(cuGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 2U);
  CU_OK(cuGraphDestroy(graph));
}

TEST_F(CudaTest, CopiesInGraphsNameMemoryOfTheDevice) {
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUgraphNode node = nullptr;
  CUDA_MEMCPY3D copy{};
  const unsigned word = 1;
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = &word;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstXInBytes = 4;  // the address 4, where no memory is
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_), CUDA_ERROR_INVALID_VALUE);
  void* pinned = nullptr;
  CU_OK(cuMemHostAlloc(&pinned, 64, 0));
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(pinned);
  copy.WidthInBytes = 64;
  EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context_), CUDA_ERROR_INVALID_VALUE);  // too long
}

TEST_F(CudaTest, AGraphThatWritesFreedPinnedMemoryIsAFault) {
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  void* pinned = nullptr;
  CU_OK(cuMemHostAlloc(&pinned, 64, 0));
  CUgraphNode node = nullptr;
  const CUDA_MEMSET_NODE_PARAMS fill{reinterpret_cast<CUdeviceptr>(pinned), 0, 1, 4, 16, 1};
  CU_OK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context_));
  CUgraphExec executable = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CU_OK(cuMemFreeHost(pinned));
  CU_OK(cuGraphLaunch(executable, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(CudaTest, AGraphRunsAfterTheContextItWasMadeInIsDestroyed) {
  CUdeviceptr word = upload({0});
  CUcontext other = nullptr;
  CU_OK(cuCtxCreate_v2(&other, 0, 0));
  const CUfunction count = function(count_kernel(), "count");
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  void* parameters[] = {&word};
  CUDA_KERNEL_NODE_PARAMS_v1 launch_node{count, 2, 1, 1, 16, 1, 1, 0, parameters, nullptr};
  CUgraphNode kernel = nullptr;
  CU_OK(cuGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch_node));
  CUgraphExec executable = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CU_OK(cuCtxDestroy_v2(other));
  CU_OK(cuGraphLaunch(executable, nullptr));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(download(word, 1)[0], 32U);
  CU_OK(cuGraphExecDestroy(executable));
  CU_OK(cuGraphDestroy(graph));
}

}  // namespace
}  // namespace wm::cuda
