// Gravity among bodies, all pairs, tiles in shared memory.
#include "check.h"
__global__ void forces(const float4* bodies, float4* force, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 me = bodies[i];
  float3 f = make_float3(0, 0, 0);
  for (int base = 0; base < n; base += 64) {
    tile[threadIdx.x] = bodies[base + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 64; ++j) {
      const float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01F);
      const float s = tile[j].w * inverse * inverse * inverse;
      f.x += dx * s; f.y += dy * s; f.z += dz * s;
    }
    __syncthreads();
  }
  force[i] = make_float4(f.x, f.y, f.z, 0);
}
int main() {
  const int n = 256;
  Numbers numbers;
  std::vector<float4> bodies(n);
  for (auto& b : bodies) b = make_float4(numbers.unit(), numbers.unit(), numbers.unit(), numbers.unit());
  Buffer<float4> in(bodies), out(n);
  forces<<<n / 64, 64>>>(in.data, out.data, n);
  const auto result = out.read();
  for (int i = 0; i < n; i += 17) {
    double fx = 0;
    for (const auto& b : bodies) {
      const double dx = b.x - bodies[i].x, dy = b.y - bodies[i].y, dz = b.z - bodies[i].z;
      fx += dx * b.w / std::pow(dx * dx + dy * dy + dz * dz + 0.01, 1.5);
    }
    EXPECT(near(result[i].x, fx, 1e-3));
  }
  return passed("nbody");
}
