// y = A x for a sparse A in jagged diagonal storage: rows sorted by length, their k-th elements stored side by side, so
// that the threads of a warp, one a row, read neighbouring words.

#define ROWS_PER_GROUP 32

// A group of 32 rows is padded to its longest (depth[group] elements); diagonal[k] is where the k-th elements start.
__kernel void spmv(__global const float* restrict values, __global const uint* restrict columns,
                   __global const uint* restrict row_of, __global const uint* restrict diagonal,
                   __global const uint* restrict depth, __global const float* restrict x, __global float* restrict y,
                   uint rows) {
  const uint i = get_global_id(0);
  if (i >= rows) return;
  const uint last = depth[i / ROWS_PER_GROUP];
  float sum = 0.0f;
  for (uint k = 0; k < last; ++k) {
    const uint at = diagonal[k] + i;
    sum += values[at] * x[columns[at]];
  }
  y[row_of[i]] = sum;
}
