// Properties of the device and of kernels, occupancy.
#include "check.h"
__global__ void __launch_bounds__(256) work(float* out) { __shared__ float a[512]; a[threadIdx.x] = threadIdx.x; __syncthreads(); out[threadIdx.x] = a[255 - threadIdx.x]; }
int main() {
  int count = 0;
  CUDA(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  cudaDeviceProp properties;
  CUDA(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s: %d SMs, compute capability %d.%d\n", properties.name, properties.multiProcessorCount, properties.major, properties.minor);
  EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 && properties.totalGlobalMem > 0);
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, work));
  EXPECT(attributes.maxThreadsPerBlock == 256 && attributes.sharedSizeBytes == 2048 && attributes.numRegs > 0);
  int blocks = 0, grid = 0, block = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 256, 0));
  EXPECT(blocks >= 1 && blocks <= 32);
  CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, work));
  EXPECT(block > 0 && block <= 256 && grid >= properties.multiProcessorCount);
  std::size_t free = 0, total = 0;
  CUDA(cudaMemGetInfo(&free, &total));
  EXPECT(free <= total);
  return passed("device_query");
}
