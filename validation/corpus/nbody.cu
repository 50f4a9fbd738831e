// Particles: all-pairs gravity with a tile in shared memory, a Lennard-Jones neighbour list, potentials on a grid.
extern "C" __global__ void nbody(const float4* __restrict__ p, float4* __restrict__ a, int n, float eps) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n; t += 256) {
    tile[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; ++j) {
      const float4 q = tile[j];
      const float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
      const float r2 = dx * dx + dy * dy + dz * dz + eps;
      const float inv = rsqrtf(r2);
      const float s = q.w * inv * inv * inv;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    __syncthreads();
  }
  a[i] = make_float4(ax, ay, az, 0);
}

// The same from global memory, without a tile: every warp reads the same address.
extern "C" __global__ void nbody_global(const float4* __restrict__ p, float4* __restrict__ a, int n, float eps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
#pragma unroll 4
  for (int j = 0; j < n; ++j) {
    const float4 q = p[j];
    const float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
    const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps);
    const float s = q.w * inv * inv * inv;
    ax += dx * s;
    ay += dy * s;
    az += dz * s;
  }
  a[i] = make_float4(ax, ay, az, 0);
}

// Forces over a list of neighbours, with a cutoff that parts the lanes.
extern "C" __global__ void lennard_jones(const float4* __restrict__ p, const unsigned* __restrict__ list,
                                         float4* __restrict__ f, int n, int neighbours, float cut2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = p[i];
  float fx = 0, fy = 0, fz = 0, e = 0;
  for (int k = 0; k < neighbours; ++k) {
    const float4 q = p[list[k * n + i]];
    const float dx = me.x - q.x, dy = me.y - q.y, dz = me.z - q.z;
    const float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
    if (r2 < cut2) {
      const float i2 = 1.0f / r2, i6 = i2 * i2 * i2;
      const float s = i6 * (48.0f * i6 - 24.0f) * i2;
      fx += dx * s;
      fy += dy * s;
      fz += dz * s;
      e += 4.0f * i6 * (i6 - 1.0f);
    }
  }
  f[i] = make_float4(fx, fy, fz, e);
}

// The potential of point charges at the points of a grid, eight points a thread.
extern "C" __global__ void coulomb_grid(const float4* __restrict__ atoms, float* __restrict__ out, int n, int width) {
  __shared__ float4 tile[128];
  const int x = (blockIdx.x * 16 + threadIdx.x % 16) * 8, y = blockIdx.y * 8 + threadIdx.x / 16;
  float v[8] = {};
  for (int t = 0; t < n; t += 128) {
    tile[threadIdx.x] = atoms[t + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float4 q = tile[j];
      const float dy = q.y - y, dyz = dy * dy + q.z * q.z;
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const float dx = q.x - (x + k);
        v[k] += q.w * rsqrtf(dx * dx + dyz);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) out[y * width + x + k] = v[k];
}
