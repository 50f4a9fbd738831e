// A maximum by shuffles inside of warps.
#include "check.h"
__global__ void maximum(const float* in, float* out, int n) {
  float best = -1e30F;
  for (int i = threadIdx.x; i < n; i += blockDim.x) best = fmaxf(best, in[i]);
  for (int step = 16; step > 0; step /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, step));
  __shared__ float warps[32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x < 32) {
    best = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : -1e30F;
    for (int step = 16; step > 0; step /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, step));
    if (threadIdx.x == 0) *out = best;
  }
}
int main() {
  Numbers numbers;
  std::vector<float> values(3000);
  float expected = -1;
  for (float& v : values) expected = std::fmax(expected, v = numbers.unit());
  Buffer<float> in(values), out(1);
  maximum<<<1, 256>>>(in.data, out.data, 3000);
  EXPECT(out.read()[0] == expected);
  return passed("reduce_warp");
}
