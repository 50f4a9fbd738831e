// Pi by random points, a generator per thread.
#include "check.h"
__global__ void count(unsigned long long* inside, int rounds) {
  unsigned long long state = blockIdx.x * blockDim.x + threadIdx.x + 1;
  unsigned mine = 0;
  const auto next = [&] { state = state * 6364136223846793005ULL + 1442695040888963407ULL; return (state >> 40) * (1.0F / (1 << 24)); };
  for (int i = 0; i < rounds; ++i) { const float x = next(), y = next(); mine += x * x + y * y < 1; }
  atomicAdd(inside, static_cast<unsigned long long>(mine));
}
int main() {
  Buffer<unsigned long long> inside(std::vector<unsigned long long>{0});
  count<<<8, 128>>>(inside.data, 100);
  const double pi = 4.0 * inside.read()[0] / (8 * 128 * 100);
  EXPECT(std::fabs(pi - M_PI) < 0.03);
  return passed("monte_carlo");
}
