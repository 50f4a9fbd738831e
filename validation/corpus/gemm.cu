// Matrix products: from global memory, with tiles of shared memory and registers, integers, half precision on tensor
// cores.
extern "C" __global__ void gemm_naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                      int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

extern "C" __global__ void gemm_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                      int n) {
  __shared__ float as[16][16], bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
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

// 64 x 64 a block, 4 x 4 a thread.
extern "C" __global__ void gemm_registers(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ c, int n) {
  __shared__ float as[16][64], bs[16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int e = t + i * 256;
      as[e % 16][e / 16] = a[(size_t)(y0 + e / 16) * n + k + e % 16];
      bs[e / 64][e % 64] = b[(size_t)(k + e / 64) * n + x0 + e % 64];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float4 av = *reinterpret_cast<const float4*>(&as[i][ty * 4]);
      const float4 bv = *reinterpret_cast<const float4*>(&bs[i][tx * 4]);
      const float ar[4] = {av.x, av.y, av.z, av.w}, br[4] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
      for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int q = 0; q < 4; ++q) sum[p][q] += ar[p] * br[q];
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 4; ++p)
    *reinterpret_cast<float4*>(&c[(size_t)(y0 + ty * 4 + p) * n + x0 + tx * 4]) =
        make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}

extern "C" __global__ void gemv_rows(const float4* __restrict__ a, const float4* __restrict__ x, float* __restrict__ y,
                                     int quads) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  float sum = 0;
  for (int c = threadIdx.x % 32; c < quads; c += 32) {
    const float4 m = a[(size_t)row * quads + c], v = x[c];
    sum += m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
  }
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}

extern "C" __global__ void gemv_columns(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < n; ++k) sum += a[(size_t)k * gridDim.x * blockDim.x + i] * x[k];
  y[i] = sum;
}

extern "C" __global__ void gemm_int8(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ c, int n,
                                     int words) {
  __shared__ int as[16][17], bs[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  int sum = 0;
  for (int k = 0; k < words; k += 16) {
    as[ty][tx] = a[y * words + k + tx];
    bs[ty][tx] = b[(blockIdx.x * 16 + ty) * words + k + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum = __dp4a(as[ty][i], bs[tx][i], sum);
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// Many products of 8 x 8, one a warp, from registers by shuffles.
extern "C" __global__ void gemm_batched8(const float2* __restrict__ a, const float2* __restrict__ b,
                                         float2* __restrict__ c) {
  const int w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float2 av = a[w * 32 + lane], bv = b[w * 32 + lane];
  float2 sum = make_float2(0, 0);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float x = __shfl_sync(~0u, k % 2 ? av.y : av.x, lane / 4 * 4 + k / 2);
    const float p = __shfl_sync(~0u, bv.x, k * 4 + lane % 4), q = __shfl_sync(~0u, bv.y, k * 4 + lane % 4);
    sum.x += x * p;
    sum.y += x * q;
  }
  c[w * 32 + lane] = sum;
}

// Half precision on tensor cores: 64 x 64 a block of four warps, mma.m16n8k16 with ldmatrix.
extern "C" __global__ void gemm_half(const uint4* __restrict__ a, const uint4* __restrict__ b, float* __restrict__ c,
                                     int n) {
  __shared__ uint4 as[64][5], bs[64][5];  // 32 halves a row, and one quad of padding; b is transposed in memory
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wy = warp / 2 * 32, wx = warp % 2 * 32;
  float sum[2][4][4] = {};
  for (int k = 0; k < n; k += 32) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = (t + i * 128) / 4, quad = t % 4;
      as[row][quad] = a[((size_t)(blockIdx.y * 64 + row) * n + k) / 8 + quad];
      bs[row][quad] = b[((size_t)(blockIdx.x * 64 + row) * n + k) / 8 + quad];
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      unsigned av[2][4], bv[4][2];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const unsigned at = (unsigned)__cvta_generic_to_shared(&as[wy + m * 16 + lane % 16][kk * 2 + lane / 16]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(av[m][0]), "=r"(av[m][1]), "=r"(av[m][2]), "=r"(av[m][3])
                     : "r"(at));
      }
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        const unsigned at = (unsigned)__cvta_generic_to_shared(&bs[wx + m * 8 + lane % 8][kk * 2 + lane / 8 % 2]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                     : "=r"(bv[m][0]), "=r"(bv[m][1])
                     : "r"(at));
      }
#pragma unroll
      for (int p = 0; p < 2; ++p)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
              : "+f"(sum[p][q][0]), "+f"(sum[p][q][1]), "+f"(sum[p][q][2]), "+f"(sum[p][q][3])
              : "r"(av[p][0]), "r"(av[p][1]), "r"(av[p][2]), "r"(av[p][3]), "r"(bv[q][0]), "r"(bv[q][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 2; ++p)
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const size_t row = blockIdx.y * 64 + wy + p * 16 + lane / 4, column = blockIdx.x * 64 + wx + q * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(&c[row * n + column]) = make_float2(sum[p][q][0], sum[p][q][1]);
      *reinterpret_cast<float2*>(&c[(row + 8) * n + column]) = make_float2(sum[p][q][2], sum[p][q][3]);
    }
}

// The same with asynchronous copies, two stages.
extern "C" __global__ void gemm_half_async(const uint4* __restrict__ a, const uint4* __restrict__ b,
                                           float* __restrict__ c, int n) {
  __shared__ uint4 as[2][64][5], bs[2][64][5];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wy = warp / 2 * 32, wx = warp % 2 * 32;
  float sum[2][4][4] = {};
  const auto fetch = [&](int stage, int k) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = (t + i * 128) / 4, quad = t % 4;
      const uint4* pa = a + ((size_t)(blockIdx.y * 64 + row) * n + k) / 8 + quad;
      const uint4* pb = b + ((size_t)(blockIdx.x * 64 + row) * n + k) / 8 + quad;
      asm volatile(
          "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&as[stage][row][quad])),
          "l"(pa));
      asm volatile(
          "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&bs[stage][row][quad])),
          "l"(pb));
    }
    asm volatile("cp.async.commit_group;");
  };
  fetch(0, 0);
  for (int k = 0; k < n; k += 32) {
    const int s = k / 32 & 1;
    if (k + 32 < n) {
      fetch(s ^ 1, k + 32);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      unsigned av[2][4], bv[4][2];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const unsigned at = (unsigned)__cvta_generic_to_shared(&as[s][wy + m * 16 + lane % 16][kk * 2 + lane / 16]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(av[m][0]), "=r"(av[m][1]), "=r"(av[m][2]), "=r"(av[m][3])
                     : "r"(at));
      }
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        const unsigned at = (unsigned)__cvta_generic_to_shared(&bs[s][wx + m * 8 + lane % 8][kk * 2 + lane / 8 % 2]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                     : "=r"(bv[m][0]), "=r"(bv[m][1])
                     : "r"(at));
      }
#pragma unroll
      for (int p = 0; p < 2; ++p)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
              "{%0,%1,%2,%3};"
              : "+f"(sum[p][q][0]), "+f"(sum[p][q][1]), "+f"(sum[p][q][2]), "+f"(sum[p][q][3])
              : "r"(av[p][0]), "r"(av[p][1]), "r"(av[p][2]), "r"(av[p][3]), "r"(bv[q][0]), "r"(bv[q][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 2; ++p)
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const size_t row = blockIdx.y * 64 + wy + p * 16 + lane / 4, column = blockIdx.x * 64 + wx + q * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(&c[row * n + column]) = make_float2(sum[p][q][0], sum[p][q][1]);
      *reinterpret_cast<float2*>(&c[(row + 8) * n + column]) = make_float2(sum[p][q][2], sum[p][q][3]);
    }
}
