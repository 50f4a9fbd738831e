// Errors: of launches, of kernels, and that those of kernels stay until the device is reset.
#include "check.h"
__global__ void store(int* p) { *p = 1; }
int main() {
  store<<<1, 2048>>>(nullptr);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  void* p = nullptr;
  EXPECT(cudaMalloc(&p, ~std::size_t{0} / 2) == cudaErrorMemoryAllocation);
  cudaGetLastError();
  EXPECT(cudaMemcpy(nullptr, &p, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  cudaGetLastError();
  store<<<1, 1>>>(reinterpret_cast<int*>(16));
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&p, 4) == cudaErrorIllegalAddress);
  std::printf("errors: ok\n");
  return 0;
}
