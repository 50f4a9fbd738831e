// A matrix product with tiles in shared memory.
#include "check.h"
const int N = 64;
__global__ void gemm(const float* a, const float* b, float* c) {
  __shared__ float ta[16][16], tb[16][17];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int k = 0; k < N; k += 16) {
    ta[y][x] = a[row * N + k + x];
    tb[y][x] = b[(k + y) * N + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += ta[y][i] * tb[i][x];
    __syncthreads();
  }
  c[row * N + column] = sum;
}
int main() {
  Numbers numbers;
  std::vector<float> a(N * N), b(N * N);
  for (float& v : a) v = numbers.unit();
  for (float& v : b) v = numbers.unit();
  Buffer<float> da(a), db(b), dc(N * N);
  gemm<<<dim3(4, 4), dim3(16, 16)>>>(da.data, db.data, dc.data);
  const auto c = dc.read();
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < N; ++k) sum += a[i * N + k] * b[k * N + j];
      EXPECT(near(c[i * N + j], sum));
    }
  return passed("gemm");
}
