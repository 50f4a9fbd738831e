// A seven-point stencil over a cube, with a 3D grid.
#include "check.h"
const int N = 24;
__global__ void step(const double* in, double* out) {
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
  const int i = (z * N + y) * N + x;
  if (x == 0 || y == 0 || z == 0 || x == N - 1 || y == N - 1 || z == N - 1) { out[i] = in[i]; return; }
  out[i] = (in[i - 1] + in[i + 1] + in[i - N] + in[i + N] + in[i - N * N] + in[i + N * N]) / 6;
}
int main() {
  std::vector<double> a(N * N * N), b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = i % 11;
  Buffer<double> da(a), db(a.size());
  step<<<dim3(3, 3, 6), dim3(8, 8, 4)>>>(da.data, db.data);
  const auto result = db.read();
  for (int z = 1; z < N - 1; ++z)
    for (int y = 1; y < N - 1; ++y)
      for (int x = 1; x < N - 1; ++x) {
        const int i = (z * N + y) * N + x;
        EXPECT(near(result[i], (a[i - 1] + a[i + 1] + a[i - N] + a[i + N] + a[i - N * N] + a[i + N * N]) / 6, 1e-12));
      }
  return passed("stencil3d");
}
