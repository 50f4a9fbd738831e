// A 2D convolution with its filter in constant memory.
#include "check.h"
__constant__ float filter[5][5];
const int N = 64;
__global__ void convolve(const float* in, float* out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (x + i >= 0 && x + i < N && y + j >= 0 && y + j < N) sum += filter[j + 2][i + 2] * in[(y + j) * N + x + i];
  out[y * N + x] = sum;
}
int main() {
  Numbers numbers;
  float host[5][5];
  for (auto& row : host) for (float& v : row) v = numbers.unit() - 0.5F;
  CUDA(cudaMemcpyToSymbol(filter, host, sizeof host));
  float back[5][5];
  CUDA(cudaMemcpyFromSymbol(back, filter, sizeof back));
  EXPECT(back[3][2] == host[3][2]);
  std::vector<float> image(N * N);
  for (float& v : image) v = numbers.unit();
  Buffer<float> in(image), out(N * N);
  convolve<<<dim3(4, 4), dim3(16, 16)>>>(in.data, out.data);
  const auto result = out.read();
  for (int y = 0; y < N; y += 5)
    for (int x = 0; x < N; x += 3) {
      double sum = 0;
      for (int j = -2; j <= 2; ++j)
        for (int i = -2; i <= 2; ++i)
          if (x + i >= 0 && x + i < N && y + j >= 0 && y + j < N) sum += host[j + 2][i + 2] * image[(y + j) * N + x + i];
      EXPECT(near(result[y * N + x], sum));
    }
  return passed("convolution");
}
