// cudaLaunchKernelEx with attributes, and a launch by pointer to the kernel.
#include "check.h"
__global__ void add(int* data, int value) { atomicAdd(data, value); }
int main() {
  Buffer<int> data(std::vector<int>{0});
  cudaStream_t stream;
  int least, greatest;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(3);
  config.blockDim = dim3(20);
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = greatest;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA(cudaLaunchKernelEx(&config, add, data.data, 2));
  CUDA(cudaStreamSynchronize(stream));
  int value = 5;
  void* arguments[] = {&data.data, &value};
  CUDA(cudaLaunchKernel(reinterpret_cast<void*>(add), dim3(1), dim3(4), arguments, 0, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(data.read()[0] == 140);
  return passed("launch_attributes");
}
