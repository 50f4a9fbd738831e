// C = alpha A B^T + beta C, all column-major, in blocks of 128 x 16 elements.
//
// A thread keeps one row of its block's 16 columns in registers. Eight rows of B^T's tile pass through local memory;
// every thread reads its own element of A once.

#define TILE_M 128
#define TILE_N 16
#define TILE_K 8

__kernel __attribute__((reqd_work_group_size(TILE_N, TILE_K, 1))) void sgemm(
    __global const float* restrict a, uint lda, __global const float* restrict b, uint ldb, __global float* restrict c,
    uint ldc, uint k, float alpha, float beta) {
  __local float tile[TILE_K][TILE_N] __attribute__((aligned(16)));  // rows are read as vectors
  const uint lx = get_local_id(0), ly = get_local_id(1);
  const uint row = get_group_id(0) * TILE_M + ly * TILE_N + lx;
  const uint column = get_group_id(1) * TILE_N;

  float sum[TILE_N];
#pragma unroll
  for (uint j = 0; j < TILE_N; ++j) sum[j] = 0.0f;

  for (uint base = 0; base < k; base += TILE_K) {
    tile[ly][lx] = b[column + lx + (base + ly) * ldb];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0; i < TILE_K; ++i) {
      const float element = a[row + (base + i) * lda];
#pragma unroll
      for (uint j = 0; j < TILE_N; ++j) sum[j] += element * tile[i][j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (uint j = 0; j < TILE_N; ++j) {
    const uint at = row + (column + j) * ldc;
    c[at] = alpha * sum[j] + beta * c[at];
  }
}
