// The game of life on a torus, bytes.
#include "check.h"
const int N = 48;
__global__ void generation(const unsigned char* in, unsigned char* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int count = 0;
  for (int j = N - 1; j <= N + 1; ++j)
    for (int i = N - 1; i <= N + 1; ++i) count += in[(y + j) % N * N + (x + i) % N];
  const int alive = in[y * N + x];
  out[y * N + x] = count == 3 || (alive && count == 4);
}
int main() {
  std::vector<unsigned char> a(N * N, 0), b(N * N);
  for (const int at : {1, N + 2, 2 * N, 2 * N + 1, 2 * N + 2}) a[at] = 1;  // a glider
  Buffer<unsigned char> da(a), db(N * N);
  for (int i = 0; i < 8; ++i) {
    generation<<<dim3(3, 3), dim3(16, 16)>>>(i % 2 ? db.data : da.data, i % 2 ? da.data : db.data);
    for (int y = 0; y < N; ++y)
      for (int x = 0; x < N; ++x) {
        int count = 0;
        for (int j = N - 1; j <= N + 1; ++j) for (int k = N - 1; k <= N + 1; ++k) count += a[(y + j) % N * N + (x + k) % N];
        b[y * N + x] = count == 3 || (a[y * N + x] && count == 4);
      }
    a.swap(b);
  }
  EXPECT(da.read() == a);
  return passed("life");
}
