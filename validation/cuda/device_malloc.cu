// Memory allocated by kernels.
#include "check.h"
__global__ void lists(int* out) {
  int* mine = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) mine[i] = threadIdx.x + i;
  out[threadIdx.x] = mine[0] + mine[1] + mine[2] + mine[3];
  free(mine);
}
int main() {
  Buffer<int> out(64);
  lists<<<1, 64>>>(out.data);
  const auto r = out.read();
  for (int i = 0; i < 64; ++i) EXPECT(r[i] == 4 * i + 6);
  return passed("device_malloc");
}
