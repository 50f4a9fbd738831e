// Stencils: 2D and 3D, from global memory, with shared tiles, with registers along an axis, on bytes.
extern "C" __global__ void jacobi(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const int i = y * width + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

extern "C" __global__ void stencil3d(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int plane = nx * ny;
  int i = plane + y * nx + x;
  float below = in[i - plane], here = in[i];
  for (int z = 1; z < nz - 1; ++z, i += plane) {
    const float above = in[i + plane];
    out[i] = 0.4f * here + 0.1f * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
    below = here;
    here = above;
  }
}

// Several steps in shared memory with a shrinking halo.
extern "C" __global__ void heat_steps(const float* __restrict__ in, float* __restrict__ out, int width, int steps) {
  __shared__ float s[2][32][33];
  const int inner = 32 - 2 * steps;
  const int x = blockIdx.x * inner + threadIdx.x - steps, y = blockIdx.y * inner + threadIdx.y - steps;
  const bool inside = x >= 0 && y >= 0 && x < width && y < width;
  const int tx = threadIdx.x, ty = threadIdx.y;
  s[0][ty][tx] = inside ? in[y * width + x] : 0.0f;
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    float v = s[k & 1][ty][tx];
    if (tx > k && ty > k && tx < 31 - k && ty < 31 - k)
      v += 0.2f * (s[k & 1][ty][tx - 1] + s[k & 1][ty][tx + 1] + s[k & 1][ty - 1][tx] + s[k & 1][ty + 1][tx] - 4 * v);
    s[~k & 1][ty][tx] = v;
    __syncthreads();
  }
  if (inside && tx >= steps && ty >= steps && tx < 32 - steps && ty < 32 - steps)
    out[y * width + x] = s[steps & 1][ty][tx];
}

extern "C" __global__ void life(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int width,
                                int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int l = x == 0 ? width - 1 : x - 1, r = x == width - 1 ? 0 : x + 1;
  const int u = (y == 0 ? height - 1 : y - 1) * width, d = (y == height - 1 ? 0 : y + 1) * width, m = y * width;
  const int n = (in[u + l] & 1) + (in[u + x] & 1) + (in[u + r] & 1) + (in[m + l] & 1) + (in[m + r] & 1) +
                (in[d + l] & 1) + (in[d + x] & 1) + (in[d + r] & 1);
  out[m + x] = n == 3 || (n == 2 && (in[m + x] & 1));
}

// Lattice Boltzmann, D2Q9: nine arrays in, nine out.
extern "C" __global__ void lattice(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                                   float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int n = width * height, i = y * width + x;
  const int xm = x == 0 ? width - 1 : x - 1, xp = x == width - 1 ? 0 : x + 1;
  const int ym = (y == 0 ? height - 1 : y - 1) * width, yp = (y == height - 1 ? 0 : y + 1) * width, y0 = y * width;
  const float f[9] = {in[i],
                      in[n + y0 + xm],
                      in[2 * n + y0 + xp],
                      in[3 * n + ym + x],
                      in[4 * n + yp + x],
                      in[5 * n + ym + xm],
                      in[6 * n + ym + xp],
                      in[7 * n + yp + xm],
                      in[8 * n + yp + xp]};
  const float rho = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8];
  const float ux = (f[1] - f[2] + f[5] - f[6] + f[7] - f[8]) / rho,
              uy = (f[3] - f[4] + f[5] + f[6] - f[7] - f[8]) / rho;
  const float cx[9] = {0, 1, -1, 0, 0, 1, -1, 1, -1}, cy[9] = {0, 0, 0, 1, -1, 1, 1, -1, -1};
  const float w[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  const float uu = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float cu = 3 * (cx[k] * ux + cy[k] * uy);
    out[k * n + i] = f[k] + omega * (w[k] * rho * (1 + cu + 0.5f * cu * cu - uu) - f[k]);
  }
}

// The wave equation in three arrays, float4 a thread.
extern "C" __global__ void wave(const float4* __restrict__ now, const float4* __restrict__ before,
                                float4* __restrict__ next, int quads, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < 1 || y >= height - 1 || x >= quads) return;
  const int i = y * quads + x;
  const float4 c = now[i], u = now[i - quads], d = now[i + quads], b = before[i];
  const float* row = reinterpret_cast<const float*>(now) + (size_t)y * quads * 4;
  const float left = x == 0 ? 0 : row[x * 4 - 1], right = x == quads - 1 ? 0 : row[x * 4 + 4];
  next[i] = make_float4(2 * c.x - b.x + 0.2f * (left + c.y + u.x + d.x - 4 * c.x),
                        2 * c.y - b.y + 0.2f * (c.x + c.z + u.y + d.y - 4 * c.y),
                        2 * c.z - b.z + 0.2f * (c.y + c.w + u.z + d.z - 4 * c.z),
                        2 * c.w - b.w + 0.2f * (c.z + right + u.w + d.w - 4 * c.w));
}
