// Arithmetic of half and bfloat16, in pairs and single.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "check.h"
__global__ void axpy(const half2* x, half2* y, float a, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}
__global__ void convert(const float* in, float* out) { out[threadIdx.x] = __bfloat162float(__float2bfloat16(in[threadIdx.x])); }
int main() {
  std::vector<half2> x(32), y(32);
  for (int i = 0; i < 32; ++i) x[i] = __floats2half2_rn(i, i + 1), y[i] = __floats2half2_rn(1, 2);
  Buffer<half2> dx(x), dy(y);
  axpy<<<1, 32>>>(dx.data, dy.data, 2, 32);
  const auto r = dy.read();
  for (int i = 0; i < 32; ++i) EXPECT(__low2float(r[i]) == 2 * i + 1 && __high2float(r[i]) == 2 * i + 4);
  Buffer<float> in(std::vector<float>(32, 1.00390625F + 1)), out(32);
  convert<<<1, 32>>>(in.data, out.data);
  EXPECT(out.read()[3] == 2.0F);
  return passed("half_precision");
}
