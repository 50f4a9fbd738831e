// A graph captured from two streams, launched several times.
#include "check.h"
__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
int main() {
  Buffer<int> a(std::vector<int>(32, 1)), b(std::vector<int>(32, 2));
  cudaStream_t first, second;
  CUDA(cudaStreamCreate(&first));
  CUDA(cudaStreamCreate(&second));
  cudaEvent_t fork, join;
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaEventCreate(&join));
  CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  add<<<1, 32, 0, first>>>(a.data, 10);
  CUDA(cudaEventRecord(fork, first));
  CUDA(cudaStreamWaitEvent(second, fork, 0));
  add<<<1, 32, 0, second>>>(b.data, 100);
  add<<<1, 32, 0, first>>>(a.data, 1);
  CUDA(cudaEventRecord(join, second));
  CUDA(cudaStreamWaitEvent(first, join, 0));
  CUDA(cudaMemcpyAsync(a.data + 31, b.data, 4, cudaMemcpyDeviceToDevice, first));
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(first, &graph));
  EXPECT(a.read()[0] == 1);  // capturing runs nothing
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(executable, first));
  CUDA(cudaStreamSynchronize(first));
  EXPECT(a.read()[0] == 34 && b.read()[5] == 302 && a.read()[31] == 302);
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaGraphDestroy(graph));
  return passed("graph_capture");
}
