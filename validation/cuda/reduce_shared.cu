// A sum in shared memory, then one atomic a block.
#include "check.h"
__global__ void sum(const int* in, int* out, int n) {
  extern __shared__ int part[];
  const int t = threadIdx.x;
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  part[t] = mine;
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) part[t] += part[t + step];
  }
  if (t == 0) atomicAdd(out, part[0]);
}
int main() {
  std::vector<int> values(50000);
  long expected = 0;
  for (int i = 0; i < 50000; ++i) expected += values[i] = i % 17 - 5;
  Buffer<int> in(values), out(std::vector<int>{0});
  sum<<<20, 128, 128 * sizeof(int)>>>(in.data, out.data, 50000);
  EXPECT(out.read()[0] == expected);
  return passed("reduce_shared");
}
