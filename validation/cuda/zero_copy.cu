// Host memory that kernels access: mapped and registered.
#include "check.h"
__global__ void twice(int* data, int n) { const int i = threadIdx.x; if (i < n) data[i] *= 2; }
int main() {
  int *mapped, *device;
  CUDA(cudaHostAlloc(&mapped, 64 * 4, cudaHostAllocMapped));
  for (int i = 0; i < 64; ++i) mapped[i] = i;
  CUDA(cudaHostGetDevicePointer(&device, mapped, 0));
  twice<<<1, 64>>>(device, 64);
  CUDA(cudaDeviceSynchronize());
  EXPECT(mapped[63] == 126);
  std::vector<int> mine(64, 3);
  CUDA(cudaHostRegister(mine.data(), 256, cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer(&device, mine.data(), 0));
  twice<<<1, 64>>>(device, 64);
  CUDA(cudaDeviceSynchronize());
  EXPECT(mine[5] == 6);
  int is_usable = 0;
  CUDA(cudaDeviceGetAttribute(&is_usable, cudaDevAttrCanUseHostPointerForRegisteredMem, 0));
  if (is_usable != 0) {  // by the host's address, from within the range too
    twice<<<1, 64>>>(mine.data() + 3, 61);
    CUDA(cudaDeviceSynchronize());
    EXPECT(mine[2] == 6 && mine[3] == 12 && mine[63] == 12);
  }
  CUDA(cudaHostUnregister(mine.data()));
  cudaPointerAttributes attributes;
  CUDA(cudaPointerGetAttributes(&attributes, mapped));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  CUDA(cudaFreeHost(mapped));
  return passed("zero_copy");
}
