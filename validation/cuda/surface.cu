// Surfaces: a kernel draws into an array, another inverts it, and textures read the result.
#include "check.h"

__global__ void draw(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = blockIdx.x;
  surf2Dwrite(make_uchar4(x, y, x + y, 255), surface, x * 4, y);
}
__global__ void invert(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = blockIdx.x;
  const uchar4 c = surf2Dread<uchar4>(surface, x * 4, y);
  surf2Dwrite(make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, c.w), surface, x * 4, y);
  // Outside of the surface: dropped, and zero.
  surf2Dwrite(make_uchar4(9, 9, 9, 9), surface, (x + 16) * 4, y, cudaBoundaryModeZero);
  if (surf2Dread<uchar4>(surface, (x + 16) * 4, y, cudaBoundaryModeZero).x != 0) __trap();
}
__global__ void read(cudaTextureObject_t texture, float4* out) {
  out[blockIdx.x * 16 + threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5F, blockIdx.x + 0.5F);
}

int main() {
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  CUDA(cudaMallocArray(&array, &bytes, 16, 8, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CUDA(cudaCreateSurfaceObject(&surface, &resource));
  draw<<<8, 16>>>(surface);
  invert<<<8, 16>>>(surface);
  std::vector<unsigned char> back(16 * 8 * 4);
  CUDA(cudaMemcpy2DFromArray(back.data(), 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) {
    const int x = i % 16, y = i / 16;
    EXPECT(back[i * 4] == 255 - x && back[i * 4 + 1] == 255 - y && back[i * 4 + 2] == 255 - x - y && back[i * 4 + 3] == 255);
  }
  cudaTextureDesc how{};
  how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t texture = 0;
  CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  Buffer<float4> out(128);
  read<<<8, 16>>>(texture, out.data);
  const std::vector<float4> colors = out.read();
  EXPECT(colors[0].x == 1.0F && colors[15].x == 240 / 255.0F && colors[127].w == 1.0F);
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaDestroySurfaceObject(surface));
  CUDA(cudaFreeArray(array));
  return passed("surface");
}
