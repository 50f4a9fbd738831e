// Adds two vectors.
#include "check.h"
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  const int n = 10000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
  Buffer<float> da(a), db(b), dc(n);
  add<<<(n + 255) / 256, 256>>>(da.data, db.data, dc.data, n);
  CUDA(cudaGetLastError());
  const auto c = dc.read();
  for (int i = 0; i < n; ++i) EXPECT(c[i] == 3 * i);
  return passed("vector_add");
}
