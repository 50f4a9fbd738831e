// A lock that threads of many blocks take in turn.
#include "check.h"
__device__ int lock = 0, value = 0;
__global__ void turns(int rounds) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < rounds; ++i) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    *static_cast<volatile int*>(&value) = *static_cast<volatile int*>(&value) + 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
}
int main() {
  turns<<<12, 32>>>(25);
  int result = 0;
  CUDA(cudaMemcpyFromSymbol(&result, value, 4));
  EXPECT(result == 300);
  return passed("locks");
}
