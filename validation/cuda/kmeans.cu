// k-means: nearest centres, sums by atomics on floats.
#include "check.h"
__global__ void assign(const float2* points, const float2* centres, int* owner, float* sums, int* counts, int n, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  float distance = 1e30F;
  for (int c = 0; c < k; ++c) {
    const float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
    if (d < distance) distance = d, best = c;
  }
  owner[i] = best;
  atomicAdd(&sums[2 * best], points[i].x);
  atomicAdd(&sums[2 * best + 1], points[i].y);
  atomicAdd(&counts[best], 1);
}
int main() {
  const int n = 400, k = 4;
  Numbers numbers;
  std::vector<float2> points(n), centres{{1, 1}, {9, 1}, {1, 9}, {9, 9}};
  for (int i = 0; i < n; ++i) points[i] = make_float2(centres[i % k].x + numbers.unit(), centres[i % k].y + numbers.unit());
  Buffer<float2> dp(points), dc(centres);
  Buffer<int> owner(n), counts(std::vector<int>(k, 0));
  Buffer<float> sums(std::vector<float>(2 * k, 0));
  assign<<<4, 128>>>(dp.data, dc.data, owner.data, sums.data, counts.data, n, k);
  const auto owners = owner.read();
  const auto sum = sums.read();
  for (int i = 0; i < n; ++i) EXPECT(owners[i] == i % k);
  for (int c = 0; c < k; ++c) {
    double expected = 0;
    for (int i = c; i < n; i += k) expected += points[i].x;
    EXPECT(counts.read()[c] == n / k && near(sum[2 * c], expected, 1e-3));
  }
  return passed("kmeans");
}
