// Templates, lambdas, structures by value, 64-bit arithmetic and vectors of four.
#include "check.h"
struct Range { long first; int step; float scale[3]; };
template <int N, typename T, typename F>
__global__ void apply(T* out, Range range, F f) {
  const long i = range.first + blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  T sum = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) sum += f(i * range.step + k) * static_cast<T>(range.scale[k % 3]);
  out[i - range.first] = sum;
}
__global__ void pairs(const int4* in, int4* out) { int4 v = in[threadIdx.x]; v.x += v.w; v.y *= v.z; out[threadIdx.x] = v; }
int main() {
  const Range range{1L << 33, 3, {1, 2, 4}};
  Buffer<double> out(256);
  apply<5><<<2, 128>>>(out.data, range, [] __device__(long v) { return static_cast<double>(v % 1000); });
  const auto r = out.read();
  for (int i = 0; i < 256; ++i) {
    double sum = 0;
    for (int k = 0; k < 5; ++k) sum += static_cast<double>((((1L << 33) + i) * 3 + k) % 1000) * range.scale[k % 3];
    EXPECT(r[i] == sum);
  }
  Buffer<int4> a(std::vector<int4>(32, make_int4(1, 2, 3, 4))), b(32);
  pairs<<<1, 32>>>(a.data, b.data);
  EXPECT(b.read()[9].x == 5 && b.read()[9].y == 6);
  return passed("templates");
}
