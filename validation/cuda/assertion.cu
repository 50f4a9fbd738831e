// An assertion that fails on the device.
#include <cassert>
#include "check.h"
__global__ void check(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }
int main() {
  check<<<1, 32>>>(32);
  CUDA(cudaDeviceSynchronize());
  check<<<1, 32>>>(31);
  EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
  std::printf("assertion: ok\n");
  return 0;
}
