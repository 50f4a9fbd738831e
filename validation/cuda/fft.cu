// A radix-2 FFT of 512 points in shared memory, against a direct transform.
#include "check.h"
const int N = 512;
__global__ void fft(float2* data) {
  __shared__ float2 a[N];
  const int t = threadIdx.x;
  for (int i = t; i < N; i += blockDim.x) a[__brev(i) >> 23] = data[i];
  for (int half = 1; half < N; half *= 2) {
    __syncthreads();
    const int k = t % half, i = (t / half) * 2 * half + k;
    float s, c;
    sincospif(-static_cast<float>(k) / half, &s, &c);
    const float2 u = a[i], v = a[i + half];
    const float2 w = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    __syncthreads();
    a[i] = make_float2(u.x + w.x, u.y + w.y);
    a[i + half] = make_float2(u.x - w.x, u.y - w.y);
  }
  __syncthreads();
  for (int i = t; i < N; i += blockDim.x) data[i] = a[i];
}
int main() {
  Numbers numbers;
  std::vector<float2> values(N);
  for (auto& v : values) v = make_float2(numbers.unit(), numbers.unit());
  Buffer<float2> data(values);
  fft<<<1, N / 2>>>(data.data);
  const auto result = data.read();
  for (int k = 0; k < N; k += 37) {
    double x = 0, y = 0;
    for (int n = 0; n < N; ++n) {
      const double angle = -2 * M_PI * k * n / N;
      x += values[n].x * std::cos(angle) - values[n].y * std::sin(angle);
      y += values[n].x * std::sin(angle) + values[n].y * std::cos(angle);
    }
    EXPECT(near(result[k].x, x, 1e-3) && near(result[k].y, y, 1e-3));
  }
  return passed("fft");
}
