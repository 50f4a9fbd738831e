// Several host threads with the stream of their own.
#include <thread>
#include "check.h"
__global__ void add(int* data, int value, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] += value; }
int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      Buffer<int> data(std::vector<int>(500, t));
      for (int i = 0; i < 10; ++i) add<<<1, 64, 0, cudaStreamPerThread>>>(data.data, 1, 500);
      CUDA(cudaStreamSynchronize(cudaStreamPerThread));
      for (const int v : data.read()) EXPECT(v == t + 10);
    });
  for (auto& t : threads) t.join();
  return passed("host_threads");
}
