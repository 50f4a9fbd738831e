// The two products of a step of the biconjugate gradient method: s = transpose(A) r and q = A p.

__kernel void bicg_1(__global const float* restrict a, __global const float* restrict r, __global float* restrict s,
                     uint rows, uint columns) {
  const uint j = get_global_id(0);
  if (j >= columns) return;
  float sum = 0.0f;
#pragma unroll 1
  for (uint i = 0; i < rows; ++i) sum += r[i] * a[i * columns + j];
  s[j] = sum;
}

__kernel void bicg_2(__global const float* restrict a, __global const float* restrict p, __global float* restrict q,
                     uint rows, uint columns) {
  const uint i = get_global_id(0);
  if (i >= rows) return;
  float sum = 0.0f;
#pragma unroll 1
  for (uint j = 0; j < columns; ++j) sum += a[i * columns + j] * p[j];
  q[i] = sum;
}
