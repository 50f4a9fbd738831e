// Output of kernels, in order.
#include "check.h"
__global__ void hello(float value, const char* unused) {
  if (threadIdx.x < 3) printf("block %d thread %d: %5.2f %s %llx\n", blockIdx.x, threadIdx.x, value * threadIdx.x, "text", 0x123456789abcULL);
}
int main() {
  std::printf("before\n");
  std::fflush(stdout);
  hello<<<2, 32>>>(1.5F, nullptr);
  CUDA(cudaDeviceSynchronize());
  return passed("device_printf");
}
