// Least-significant-digit radix sort with one block: ballots give every thread its rank.
#include <algorithm>
#include "check.h"
__global__ void sort_bits(unsigned* a, unsigned* b, int n) {
  __shared__ int zeros[32], offset;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int bit = 0; bit < 16; ++bit) {
    const bool zero = (a[t] >> bit & 1) == 0;
    const unsigned votes = __ballot_sync(0xffffffff, zero);
    if (lane == 0) zeros[warp] = __popc(votes);
    __syncthreads();
    if (t == 0) {
      int sum = 0;
      for (int w = 0; w < n / 32; ++w) { const int c = zeros[w]; zeros[w] = sum; sum += c; }
      offset = sum;
    }
    __syncthreads();
    const int before = zeros[warp] + __popc(votes & ((1U << lane) - 1));
    const unsigned value = a[t];
    __syncthreads();
    a[zero ? before : offset + t - before] = value;
    __syncthreads();
  }
  b[t] = a[t];
}
int main() {
  Numbers numbers;
  std::vector<unsigned> values(512);
  for (auto& v : values) v = numbers.next() >> 16;
  Buffer<unsigned> a(values), b(512);
  sort_bits<<<1, 512>>>(a.data, b.data, 512);
  std::sort(values.begin(), values.end());
  EXPECT(b.read() == values);
  return passed("radix_sort");
}
