// Bitonic sort, one launch a step.
#include <algorithm>
#include "check.h"
__global__ void step(unsigned* a, int j, int k) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  const bool up = (i & k) == 0;
  if ((a[i] > a[other]) == up) { const unsigned t = a[i]; a[i] = a[other]; a[other] = t; }
}
int main() {
  Numbers numbers;
  std::vector<unsigned> values(4096);
  for (auto& v : values) v = numbers.next();
  Buffer<unsigned> a(values);
  for (int k = 2; k <= 4096; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) step<<<16, 256>>>(a.data, j, k);
  std::sort(values.begin(), values.end());
  EXPECT(a.read() == values);
  return passed("bitonic_sort");
}
