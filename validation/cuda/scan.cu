// An exclusive prefix sum of one block (Blelloch), and block sums added back.
#include "check.h"
__global__ void scan_block(const int* in, int* out, int* sums) {
  __shared__ int a[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  a[t] = in[i];
  for (int d = 1; d < 256; d *= 2) {
    __syncthreads();
    if ((t + 1) % (2 * d) == 0) a[t] += a[t - d];
  }
  __syncthreads();
  if (t == 255) { sums[blockIdx.x] = a[255]; a[255] = 0; }
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    if ((t + 1) % (2 * d) == 0) { const int left = a[t - d]; a[t - d] = a[t]; a[t] += left; }
  }
  __syncthreads();
  out[i] = a[t];
}
__global__ void add_sums(int* out, const int* sums) {
  int before = 0;
  for (unsigned b = 0; b < blockIdx.x; ++b) before += sums[b];
  out[blockIdx.x * 256 + threadIdx.x] += before;
}
int main() {
  std::vector<int> values(256 * 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 7;
  Buffer<int> in(values), out(values.size()), sums(16);
  scan_block<<<16, 256>>>(in.data, out.data, sums.data);
  add_sums<<<16, 256>>>(out.data, sums.data);
  const auto result = out.read();
  int expected = 0;
  for (std::size_t i = 0; i < values.size(); expected += values[i++]) EXPECT(result[i] == expected);
  return passed("scan");
}
