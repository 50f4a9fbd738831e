// Asynchronous copies into shared memory (cp.async) by the pipeline of the toolkit.
#include <cuda_pipeline.h>
#include "check.h"
__global__ void sums(const int4* in, int* out) {
  __shared__ int4 tile[2][64];
  const int t = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &in[t], 16);
  __pipeline_commit();
  for (int stage = 0; stage < 4; ++stage) {
    if (stage < 3) __pipeline_memcpy_async(&tile[(stage + 1) % 2][t], &in[(stage + 1) * 64 + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const int4 v = tile[stage % 2][63 - t];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  out[t] = sum;
}
int main() {
  std::vector<int4> values(256);
  for (int i = 0; i < 256; ++i) values[i] = make_int4(i, 1, 2, 3);
  Buffer<int4> in(values);
  Buffer<int> out(64);
  sums<<<1, 64>>>(in.data, out.data);
  const auto r = out.read();
  for (int t = 0; t < 64; ++t) EXPECT(r[t] == 4 * (63 - t) + 64 * 6 + 24);
  return passed("async_copy");
}
