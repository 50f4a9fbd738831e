// Memory allocated by kernels.
#include "check.h"
__global__ void lists(int* out) {
  int* mine = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) mine[i] = threadIdx.x + i;
  out[threadIdx.x] = mine[0] + mine[1] + mine[2] + mine[3];
  free(mine);
}
// Each thread keeps its memory.
__global__ void keep(char** out, size_t bytes) {
  out[threadIdx.x] = static_cast<char*>(malloc(bytes));
  if (out[threadIdx.x] != nullptr) out[threadIdx.x][bytes - 1] = 1;
}
int main() {
  CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  Buffer<int> out(64);
  lists<<<1, 64>>>(out.data);
  const auto r = out.read();
  for (int i = 0; i < 64; ++i) EXPECT(r[i] == 4 * i + 6);
  Buffer<char*> kept(4);
  keep<<<1, 4>>>(kept.data, 12 << 20);
  for (char* p : kept.read()) EXPECT(p != nullptr);
  keep<<<1, 4>>>(kept.data, 80 << 20);
  for (char* p : kept.read()) EXPECT(p == nullptr);
  return passed("device_malloc");
}
