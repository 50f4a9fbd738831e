// Filtered 2D and 3D textures, address modes, normalised reads, layers, levels and gather, against the guide's formulas.
#include <cmath>

#include "check.h"

__global__ void fetch2d(cudaTextureObject_t texture, const float2* places, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, places[threadIdx.x].x, places[threadIdx.x].y);
}
__global__ void fetch3d(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex3D<float>(texture, 0.25F * threadIdx.x, 1.0F, 1.25F);
}
__global__ void fetch_layer(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(texture, 0.5F, 1.5F, threadIdx.x);
}
__global__ void fetch_level(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLod<float>(texture, 0.5F, 0.5F, 0.5F * threadIdx.x);
}
__global__ void gather(cudaTextureObject_t texture, float4* out) { *out = tex2Dgather<float4>(texture, 1.0F, 1.0F, 0); }

constexpr int kWidth = 5, kHeight = 4;
float texel(int x, int y) { return 10.0F * y + x * x; }

// The guide's linear filtering with clamped, unnormalised coordinates and weights of 8 bits.
float expected(float x, float y) {
  const auto clamped = [](int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; };
  const float fx = std::floor(x - 0.5F), fy = std::floor(y - 0.5F);
  const float a = std::floor((x - 0.5F - fx) * 256 + 0.5F) / 256, b = std::floor((y - 0.5F - fy) * 256 + 0.5F) / 256;
  const int i = static_cast<int>(fx), j = static_cast<int>(fy);
  const auto t = [&](int dx, int dy) { return texel(clamped(i + dx, kWidth), clamped(j + dy, kHeight)); };
  return (1 - a) * (1 - b) * t(0, 0) + a * (1 - b) * t(1, 0) + (1 - a) * b * t(0, 1) + a * b * t(1, 1);
}

cudaTextureObject_t texture_of(cudaResourceDesc resource, cudaTextureFilterMode filter, bool normalized) {
  cudaTextureDesc how{};
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  how.filterMode = filter;
  how.normalizedCoords = normalized;
  how.maxMipmapLevelClamp = 99;
  cudaTextureObject_t texture = 0;
  CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}
cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

int main() {
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  std::vector<float> plane(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) plane[i] = texel(i % kWidth, i / kWidth);
  cudaArray_t array = nullptr;
  CUDA(cudaMallocArray(&array, &floats, kWidth, kHeight, cudaArrayTextureGather));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, plane.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  const cudaTextureObject_t filtered = texture_of(resource_of(array), cudaFilterModeLinear, false);
  std::vector<float2> where;
  for (int i = 0; i < 64; ++i) where.push_back({-1 + 0.117F * i, 5 - 0.09F * i});
  Buffer<float2> places(where);
  Buffer<float> out(64);
  fetch2d<<<1, 64>>>(filtered, places.data, out.data);
  const std::vector<float> got = out.read();
  for (int i = 0; i < 64; ++i) EXPECT(std::fabs(got[i] - expected(where[i].x, where[i].y)) < 0.06F);
  Buffer<float4> four(1);
  gather<<<1, 1>>>(filtered, four.data);
  const float4 corners = four.read()[0];
  EXPECT(corners.x == texel(0, 1) && corners.y == texel(1, 1) && corners.z == texel(1, 0) && corners.w == texel(0, 0));

  cudaArray_t volume = nullptr, layers = nullptr;
  std::vector<float> cells{0, 1, 2, 3, 4, 5, 6, 7};
  CUDA(cudaMalloc3DArray(&volume, &floats, make_cudaExtent(2, 2, 2), 0));
  CUDA(cudaMalloc3DArray(&layers, &floats, make_cudaExtent(2, 2, 2), cudaArrayLayered));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(cells.data(), 8, 2, 2);
  copy.extent = make_cudaExtent(2, 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  copy.dstArray = volume;
  CUDA(cudaMemcpy3D(&copy));
  copy.dstArray = layers;
  CUDA(cudaMemcpy3D(&copy));
  fetch3d<<<1, 8>>>(texture_of(resource_of(volume), cudaFilterModeLinear, false), out.data);
  const std::vector<float> along = out.read();
  EXPECT(along[0] == 4.0F && along[2] == 4.0F && along[4] == 4.5F && along[5] == 4.75F && along[7] == 5.0F);
  fetch_layer<<<1, 3>>>(texture_of(resource_of(layers), cudaFilterModePoint, false), out.data);
  EXPECT(out.read()[0] == 2 && out.read()[1] == 6 && out.read()[2] == 6);

  cudaMipmappedArray_t levels = nullptr;
  CUDA(cudaMallocMipmappedArray(&levels, &floats, make_cudaExtent(4, 4, 0), 3));
  for (unsigned level = 0; level < 3; ++level) {
    cudaArray_t one = nullptr;
    CUDA(cudaGetMipmappedArrayLevel(&one, levels, level));
    const std::vector<float> value(16, 10.0F * level);
    const int side = 4 >> level;
    CUDA(cudaMemcpy2DToArray(one, 0, 0, value.data(), side * 4, side * 4, side, cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = levels;
  fetch_level<<<1, 6>>>(texture_of(resource, cudaFilterModePoint, true), out.data);
  EXPECT(out.read()[0] == 0 && out.read()[2] == 10 && out.read()[4] == 20 && out.read()[5] == 20);
  CUDA(cudaFreeMipmappedArray(levels));
  CUDA(cudaFreeArray(array));
  return passed("texture_filtering");
}
