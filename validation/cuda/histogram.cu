// A histogram with atomics in shared memory.
#include "check.h"
__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1U);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
int main() {
  Numbers numbers;
  std::vector<unsigned char> values(20000);
  std::vector<unsigned> expected(256, 0);
  for (auto& v : values) ++expected[v = numbers.next() >> 24];
  Buffer<unsigned char> in(values);
  Buffer<unsigned> bins(std::vector<unsigned>(256, 0));
  histogram<<<8, 256>>>(in.data, bins.data, 20000);
  EXPECT(bins.read() == expected);
  return passed("histogram");
}
