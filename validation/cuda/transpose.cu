// A transposition through shared memory, with pitched memory and 2D copies.
#include "check.h"
__global__ void transpose(const char* in, std::size_t in_pitch, char* out, std::size_t out_pitch) {
  __shared__ int tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = reinterpret_cast<const int*>(in + (y + i) * in_pitch)[x];
  __syncthreads();
  const int ox = blockIdx.y * 32 + threadIdx.x, oy = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) reinterpret_cast<int*>(out + (oy + i) * out_pitch)[ox] = tile[threadIdx.x][threadIdx.y + i];
}
int main() {
  const int width = 96, height = 64;
  std::vector<int> a(width * height), b(width * height);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = i;
  char *in, *out;
  std::size_t in_pitch, out_pitch;
  CUDA(cudaMallocPitch(&in, &in_pitch, width * 4, height));
  CUDA(cudaMallocPitch(&out, &out_pitch, height * 4, width));
  CUDA(cudaMemcpy2D(in, in_pitch, a.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  transpose<<<dim3(width / 32, height / 32), dim3(32, 8)>>>(in, in_pitch, out, out_pitch);
  CUDA(cudaMemcpy2D(b.data(), height * 4, out, out_pitch, height * 4, width, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) EXPECT(b[x * height + y] == a[y * width + x]);
  CUDA(cudaFree(in));
  CUDA(cudaFree(out));
  return passed("transpose");
}
