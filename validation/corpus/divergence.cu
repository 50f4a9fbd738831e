// Lanes that do different amounts of work: fractals, rays, number sequences.
extern "C" __global__ void mandelbrot(unsigned* __restrict__ out, int width, int limit, float scale) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = -2.0f + x * scale, cy = -1.25f + y * scale;
  float zx = 0, zy = 0;
  int i = 0;
  while (i < limit && zx * zx + zy * zy < 4.0f) {
    const float t = zx * zx - zy * zy + cx;
    zy = 2.0f * zx * zy + cy;
    zx = t;
    ++i;
  }
  out[y * width + x] = i;
}

extern "C" __global__ void julia_double(unsigned* __restrict__ out, int width, int limit, double scale) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  double zx = -1.6 + x * scale, zy = -1.2 + y * scale;
  int i = 0;
  for (; i < limit; ++i) {
    const double a = zx * zx, b = zy * zy;
    if (a + b > 4.0) break;
    zy = 2.0 * zx * zy + 0.156;
    zx = a - b - 0.8;
  }
  out[y * width + x] = i;
}

// Rays against spheres: the nearest hit, shaded, two bounces.
extern "C" __global__ void ray_spheres(const float4* __restrict__ spheres, float* __restrict__ out, int count,
                                       int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float ox = 0, oy = 0, oz = -3;
  float dx = (x - width / 2) / (float)width, dy = (y - width / 2) / (float)width, dz = 1;
  float light = 0, weight = 1;
  for (int bounce = 0; bounce < 3; ++bounce) {
    const float inv = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= inv, dy *= inv, dz *= inv;
    float nearest = 1e30f;
    int hit = -1;
    for (int s = 0; s < count; ++s) {
      const float4 c = spheres[s];
      const float lx = c.x * 4 - 2 - ox, ly = c.y * 4 - 2 - oy, lz = c.z * 4 - oz;
      const float b = lx * dx + ly * dy + lz * dz;
      const float disc = b * b - (lx * lx + ly * ly + lz * lz) + c.w * c.w * 0.16f;
      if (disc > 0) {
        const float t = b - sqrtf(disc);
        if (t > 0.001f && t < nearest) nearest = t, hit = s;
      }
    }
    if (hit < 0) {
      light += weight * (0.5f + 0.5f * dy);
      break;
    }
    const float4 c = spheres[hit];
    ox += dx * nearest, oy += dy * nearest, oz += dz * nearest;
    float nx = ox - (c.x * 4 - 2), ny = oy - (c.y * 4 - 2), nz = oz - c.z * 4;
    const float ni = rsqrtf(nx * nx + ny * ny + nz * nz);
    nx *= ni, ny *= ni, nz *= ni;
    light += weight * fmaxf(0.0f, ny) * 0.3f;
    weight *= 0.5f;
    const float k = 2 * (dx * nx + dy * ny + dz * nz);
    dx -= k * nx, dy -= k * ny, dz -= k * nz;
  }
  out[y * width + x] = light;
}

extern "C" __global__ void collatz(unsigned* __restrict__ out, unsigned first) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long n = first + id;
  unsigned steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n >> 1;
    ++steps;
  }
  out[id] = steps;
}

// A switch over data: a small interpreter.
extern "C" __global__ void interpreter(const unsigned* __restrict__ in, unsigned* __restrict__ out, int length) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned acc = id, x = in[id];
  for (int pc = 0; pc < length; ++pc) {
    switch (in[(id / 8 + pc * 7) & 4095] & 7) {
      case 0:
        acc += x;
        break;
      case 1:
        acc ^= x << 3;
        break;
      case 2:
        acc = acc * x + 1;
        break;
      case 3:
        acc = __popc(acc) + x;
        break;
      case 4:
        acc -= x >> 2;
        break;
      case 5:
        acc = min(acc, x);
        break;
      case 6:
        x = x * 1664525u + 1013904223u;
        break;
      default:
        acc = __brev(acc);
        break;
    }
  }
  out[id] = acc;
}
