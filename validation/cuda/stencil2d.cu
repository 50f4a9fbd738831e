// A five-point stencil with a tile in shared memory.
#include "check.h"
const int N = 96;
__global__ void step(const float* in, float* out) {
  __shared__ float tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const auto at = [&](int a, int b) { return a < 0 || b < 0 || a >= N || b >= N ? 0.0F : in[b * N + a]; };
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = at(x, y);
  if (tx == 1) tile[ty][0] = at(x - 1, y);
  if (tx == 16) tile[ty][17] = at(x + 1, y);
  if (ty == 1) tile[0][tx] = at(x, y - 1);
  if (ty == 16) tile[17][tx] = at(x, y + 1);
  __syncthreads();
  out[y * N + x] = 0.5F * tile[ty][tx] + 0.125F * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}
int main() {
  std::vector<float> a(N * N), b(N * N);
  Numbers numbers;
  for (float& v : a) v = numbers.unit();
  Buffer<float> da(a), db(N * N);
  for (int i = 0; i < 4; ++i) {
    step<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(i % 2 ? db.data : da.data, i % 2 ? da.data : db.data);
    const auto at = [&](int x, int y) { return x < 0 || y < 0 || x >= N || y >= N ? 0.0F : a[y * N + x]; };
    for (int y = 0; y < N; ++y)
      for (int x = 0; x < N; ++x) b[y * N + x] = 0.5F * at(x, y) + 0.125F * (at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y));
    a.swap(b);
  }
  const auto result = da.read();
  for (int i = 0; i < N * N; ++i) EXPECT(near(result[i], a[i]));
  return passed("stencil2d");
}
