// A texture object over linear memory.
#include "check.h"
__global__ void fetch(cudaTextureObject_t texture, float* out) { out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x); }
int main() {
  std::vector<float> values(32);
  for (int i = 0; i < 32; ++i) values[i] = i * 0.5F;
  Buffer<float> in(values), out(32);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in.data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 128;
  cudaTextureDesc description{};
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  fetch<<<1, 32>>>(texture, out.data);
  EXPECT(out.read() == values);
  CUDA(cudaDestroyTextureObject(texture));
  return passed("texture");
}
