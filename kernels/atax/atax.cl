// y = transpose(A) (A x), in two kernels.

// tmp = A x, a thread a row: every thread walks its own lines.
__kernel void atax_1(__global const float* restrict a, __global const float* restrict x, __global float* restrict tmp,
                     uint rows, uint columns) {
  const uint i = get_global_id(0);
  if (i >= rows) return;
  float sum = 0.0f;
#pragma unroll 1
  for (uint j = 0; j < columns; ++j) sum += a[i * columns + j] * x[j];
  tmp[i] = sum;
}

// y = transpose(A) tmp, a thread a column: neighbours read neighbouring words.
__kernel void atax_2(__global const float* restrict a, __global const float* restrict tmp, __global float* restrict y,
                     uint rows, uint columns) {
  const uint j = get_global_id(0);
  if (j >= columns) return;
  float sum = 0.0f;
#pragma unroll 1
  for (uint i = 0; i < rows; ++i) sum += a[i * columns + j] * tmp[i];
  y[j] = sum;
}
