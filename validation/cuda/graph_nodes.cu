// A graph built node by node: memory set, kernel, copy, host function.
#include "check.h"
__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
int main() {
  Buffer<int> a(64);
  std::vector<int> result(64);
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t set, kernel, copy, host;
  cudaMemsetParams fill{};
  fill.dst = a.data;
  fill.elementSize = 4;
  fill.width = 64;
  fill.height = 1;
  fill.value = 5;
  CUDA(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  int value = 7;
  void* arguments[] = {&a.data, &value};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(64);
  launch.kernelParams = arguments;
  CUDA(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
  value = 1000;  // the node has its own copy
  CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, result.data(), a.data, 64 * 4, cudaMemcpyDeviceToHost));
  int called = 0;
  cudaHostNodeParams call{};
  call.fn = [](void* data) { ++*static_cast<int*>(data); };
  call.userData = &called;
  CUDA(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CUDA(cudaGraphLaunch(executable, nullptr));
  CUDA(cudaGraphLaunch(executable, nullptr));
  CUDA(cudaDeviceSynchronize());
  EXPECT(called == 2);
  for (const int v : result) EXPECT(v == 12);
  return passed("graph_nodes");
}
