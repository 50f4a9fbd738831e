// Double precision, transforms, finance and physics.
extern "C" __global__ void daxpy(const double* __restrict__ x, double* __restrict__ y, double a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

extern "C" __global__ void dgemm_tiled(const double* __restrict__ a, const double* __restrict__ b,
                                       double* __restrict__ c, int n) {
  __shared__ double as[16][16], bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  double sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = a[y * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void polynomial_double(const double* __restrict__ in, double* __restrict__ out, int degree,
                                             int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  double sum = 1;
  for (int k = degree; k > 0; --k) sum = sum * x + 1.0 / k;
  out[i] = sum / (1.0 + x * x);
}

// Newton's method with double square roots and divisions.
extern "C" __global__ void kepler_double(const double* __restrict__ in, double* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double m = in[i] * 3.0, e = 0.4;
  double x = m;
  for (int k = 0; k < 6; ++k) {
    const double s = x - x * x * x / 6 + x * x * x * x * x / 120, c = sqrt(fmax(0.0, 1 - s * s));
    x -= (x - e * s - m) / (1 - e * c);
  }
  out[i] = x;
}

extern "C" __global__ void black_scholes(const float* __restrict__ price, const float* __restrict__ strike,
                                         const float* __restrict__ years, float* __restrict__ call,
                                         float* __restrict__ put, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = price[i] * 25 + 5, x = strike[i] * 99 + 1, t = years[i] * 9.75f + 0.25f;
  const float root = sqrtf(t), d1 = (logf(s / x) + (0.02f + 0.045f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
  const auto normal = [](float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float c =
        0.39894228f * expf(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
  };
  const float n1 = normal(d1), n2 = normal(d2), discount = expf(-0.02f * t);
  call[i] = s * n1 - x * discount * n2;
  put[i] = x * discount * (1 - n2) - s * (1 - n1);
}

extern "C" __global__ void binomial_tree(const float* __restrict__ in, float* __restrict__ out, int steps) {
  __shared__ float v[257];
  const int t = threadIdx.x;
  const float s = in[blockIdx.x] * 50 + 10;
  const auto payoff = [&](int k) { return fmaxf(0.0f, s * __expf(0.02f * (2 * k - steps)) - 30.0f); };
  v[t] = payoff(t);
  if (t == 0) v[256] = payoff(256);
  for (int k = steps; k > 0; --k) {
    __syncthreads();
    const float next = t < k ? 0.51f * v[t + 1] + 0.48f * v[t] : 0.0f;
    __syncthreads();
    if (t < k) v[t] = next;
  }
  if (t == 0) out[blockIdx.x] = v[0];
}

// Paths of an option by Box-Muller numbers.
extern "C" __global__ void monte_carlo(float* __restrict__ out, int paths, float drift) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = id * 747796405u + 2891336453u;
  float sum = 0;
  for (int p = 0; p < paths; ++p) {
    s = s * 1664525u + 1013904223u;
    const float u = ((s >> 8) + 1) * (1.0f / 16777217.0f);
    s = s * 1664525u + 1013904223u;
    const float w = (s >> 8) * (6.2831853f / 16777216.0f);
    const float r = sqrtf(-2.0f * __logf(u));
    sum += fmaxf(0.0f, __expf(drift + 0.2f * r * __cosf(w)) - 1.0f) +
           fmaxf(0.0f, __expf(drift + 0.2f * r * __sinf(w)) - 1.0f);
  }
  out[id] = sum / paths;
}

// Transforms of 1024 points in shared memory, radix 2.
extern "C" __global__ void fft_shared(float2* __restrict__ data) {
  __shared__ float2 s[1024];
  float2* mine = data + (size_t)blockIdx.x * 1024;
  const int t = threadIdx.x;
  s[__brev(t) >> 22] = mine[t];
  s[__brev(t + 512) >> 22] = mine[t + 512];
  for (int half = 1; half < 1024; half *= 2) {
    __syncthreads();
    const int k = t & (half - 1), i = 2 * t - k, j = i + half;
    float sn, cs;
    __sincosf(-3.14159265f * k / half, &sn, &cs);
    const float2 a = s[i], b = s[j];
    const float2 w = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
    s[i] = make_float2(a.x + w.x, a.y + w.y);
    s[j] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  mine[t] = s[t], mine[t + 512] = s[t + 512];
}

// Sixteen points a thread in registers.
extern "C" __global__ void fft_registers(const float2* __restrict__ in, float2* __restrict__ out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, stride = n / 16;
  float2 v[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = in[i * stride + t];
#pragma unroll
  for (int half = 8; half >= 1; half /= 2)
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if ((i & half) == 0) {
        const float2 a = v[i], b = v[i + half];
        const float c = 0.9238795f - 0.1f * (i & (half - 1)), s = 0.3826834f + 0.05f * (i & (half - 1));
        v[i] = make_float2(a.x + b.x, a.y + b.y);
        const float2 d = make_float2(a.x - b.x, a.y - b.y);
        v[i + half] = make_float2(d.x * c - d.y * s, d.x * s + d.y * c);
      }
#pragma unroll
  for (int i = 0; i < 16; ++i) out[i * stride + t] = v[i];
}

extern "C" __global__ void walsh(float* __restrict__ data) {
  __shared__ float s[2048];
  float* mine = data + (size_t)blockIdx.x * 2048;
  for (int i = threadIdx.x; i < 2048; i += 256) s[i] = mine[i];
  for (int half = 1024; half > 0; half /= 2) {
    __syncthreads();
    for (int p = threadIdx.x; p < 1024; p += 256) {
      const int i = 2 * p - (p & (half - 1));
      const float a = s[i], b = s[i + half];
      s[i] = a + b, s[i + half] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 2048; i += 256) mine[i] = s[i];
}

extern "C" __global__ void dct8x8(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float tile[8][8 * 8 + 1];
  const int b = threadIdx.x / 8, i = threadIdx.x % 8, x0 = blockIdx.x * 64 + b * 8, y0 = blockIdx.y * 8;
  float v[8], r[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = in[(y0 + k) * width + x0 + i];
#pragma unroll
  for (int u = 0; u < 8; ++u) {
    r[u] = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) r[u] += v[k] * (0.5f - 0.0613f * ((2 * k + 1) * u % 16));
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) tile[b][k * 8 + i] = r[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = tile[b][i * 8 + k];
#pragma unroll
  for (int u = 0; u < 8; ++u) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[k] * (0.5f - 0.0613f * ((2 * k + 1) * u % 16));
    out[(y0 + i) * width + x0 + u] = sum;
  }
}

// K-means assignment: the nearest of the centres in shared memory.
extern "C" __global__ void kmeans_assign(const float4* __restrict__ points, const float4* __restrict__ centres,
                                         unsigned* __restrict__ out, int n, int count) {
  __shared__ float4 c[64];
  if (threadIdx.x < count) c[threadIdx.x] = centres[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = points[i];
  float best = 1e30f;
  unsigned which = 0;
  for (int k = 0; k < count; ++k) {
    const float dx = p.x - c[k].x, dy = p.y - c[k].y, dz = p.z - c[k].z, dw = p.w - c[k].w;
    const float d = dx * dx + dy * dy + dz * dz + dw * dw;
    if (d < best) best = d, which = k;
  }
  out[i] = which;
}
