// Errors: of launches, of kernels, and that those of kernels stay until the device is reset.
#include "check.h"
__global__ void store(int* p) { *p = 1; }
int main() {
  int* nowhere = nullptr;
  void* arguments[] = {&nowhere};
  const cudaError_t refused = cudaLaunchKernel(reinterpret_cast<void*>(store), dim3(1), dim3(2048), arguments, 0, nullptr);
  std::printf("2048 threads: %d\n", refused);
  EXPECT(refused == cudaErrorInvalidConfiguration || refused == cudaErrorInvalidValue);
  EXPECT(cudaPeekAtLastError() == refused);
  EXPECT(cudaGetLastError() == refused);
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
