// Variables of the device: copies, addresses, pointers between them.
#include "check.h"
__device__ int counter = 3;
__device__ float table[4] = {1, 2, 3, 4};
__device__ const float* pointer = &table[2];
__global__ void use(float* out) { atomicAdd(&counter, 1); *out = *pointer; }
int main() {
  Buffer<float> out(1);
  use<<<1, 10>>>(out.data);
  int count = 0;
  CUDA(cudaMemcpyFromSymbol(&count, counter, 4));
  EXPECT(count == 13 && out.read()[0] == 3);
  const float changed = 9;
  CUDA(cudaMemcpyToSymbol(table, &changed, 4, 2 * 4));
  use<<<1, 1>>>(out.data);
  EXPECT(out.read()[0] == 9);
  void* address = nullptr;
  std::size_t bytes = 0;
  CUDA(cudaGetSymbolAddress(&address, table));
  CUDA(cudaGetSymbolSize(&bytes, table));
  EXPECT(bytes == 16);
  CUDA(cudaMemset(address, 0, 16));
  use<<<1, 1>>>(out.data);
  EXPECT(out.read()[0] == 0);
  return passed("symbols");
}
