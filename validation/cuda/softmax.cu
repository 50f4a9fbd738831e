// Softmax and layer normalisation of rows, a block a row.
#include "check.h"
template <typename F>
__device__ float all(float value, F combine) {
  __shared__ float part[8];
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = part[0];
  for (unsigned i = 1; i < blockDim.x / 32; ++i) value = combine(value, part[i]);
  return value;
}
__global__ void rows(const float* in, float* soft, float* norm, int width) {
  const float* row = in + blockIdx.x * width;
  float top = -1e30F, sum = 0, total = 0, square = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i]);
  top = all(top, [](float a, float b) { return fmaxf(a, b); });
  const auto add = [](float a, float b) { return a + b; };
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - top), total += row[i], square += row[i] * row[i];
  sum = all(sum, add); total = all(total, add); square = all(square, add);
  const float mean = total / width, scale = rsqrtf(square / width - mean * mean + 1e-5F);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    soft[blockIdx.x * width + i] = expf(row[i] - top) / sum;
    norm[blockIdx.x * width + i] = (row[i] - mean) * scale;
  }
}
int main() {
  const int height = 20, width = 300;
  Numbers numbers;
  std::vector<float> values(height * width);
  for (float& v : values) v = 4 * numbers.unit() - 2;
  Buffer<float> in(values), soft(values.size()), norm(values.size());
  rows<<<height, 128>>>(in.data, soft.data, norm.data, width);
  const auto s = soft.read(), l = norm.read();
  for (int r = 0; r < height; ++r) {
    double sum = 0, mean = 0, variance = 0;
    for (int i = 0; i < width; ++i) sum += std::exp(values[r * width + i]), mean += values[r * width + i] / width;
    for (int i = 0; i < width; ++i) variance += std::pow(values[r * width + i] - mean, 2) / width;
    for (int i = 0; i < width; i += 7) {
      EXPECT(near(s[r * width + i], std::exp(values[r * width + i]) / sum, 1e-3));
      EXPECT(near(l[r * width + i], (values[r * width + i] - mean) / std::sqrt(variance + 1e-5), 1e-3));
    }
  }
  return passed("softmax");
}
