// Memory in the order of streams, and a pool of the program's own.
#include "check.h"
__global__ void fill(int* data, int value, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = value; }
int main() {
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaMemPool_t pool;
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  std::vector<int> result(300);
  for (int i = 0; i < 5; ++i) {
    int* data;
    CUDA(cudaMallocAsync(&data, 1200, stream));
    fill<<<1, 64, 0, stream>>>(data, i, 300);
    CUDA(cudaMemcpyAsync(result.data(), data, 1200, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(data, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(result[0] == i && result[299] == i);
  }
  return passed("memory_pool");
}
