// y = alpha A x + beta B x, a thread a row: two streams of lines a thread that no neighbour shares.
__kernel void gesummv(__global const float* restrict a, __global const float* restrict b,
                      __global const float* restrict x, __global float* restrict y, uint n, float alpha, float beta) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  float from_a = 0.0f;
  float from_b = 0.0f;
#pragma unroll 1
  for (uint j = 0; j < n; ++j) {
    from_a += a[i * n + j] * x[j];
    from_b += b[i * n + j] * x[j];
  }
  y[i] = alpha * from_a + beta * from_b;
}

// The same for matrices that are not square.
__kernel void gesummv_tall(__global const float* restrict a, __global const float* restrict b,
                           __global const float* restrict x, __global float* restrict y, uint rows, uint columns,
                           float alpha, float beta) {
  const uint i = get_global_id(0);
  if (i >= rows) return;
  float from_a = 0.0f;
  float from_b = 0.0f;
#pragma unroll 1
  for (uint j = 0; j < columns; ++j) {
    from_a += a[i * columns + j] * x[j];
    from_b += b[i * columns + j] * x[j];
  }
  y[i] = alpha * from_a + beta * from_b;
}
