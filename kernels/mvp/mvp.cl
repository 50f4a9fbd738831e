// Matrix times vector, one thread a row. The matrix is stored in panels of 8 columns, a row's 32 bytes of a panel
// together: a warp's loads touch the same 8 lines eight times over, so a few warps live from L1 and many thrash it.
#define PANEL 8

__kernel void mvp(__global const float* restrict matrix, __global const float* restrict x, __global float* restrict y,
                  uint rows, uint columns) {
  const uint row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  uint at = row * PANEL;
#pragma unroll 1
  for (uint k = 0; k < columns; ++k) {
    sum += matrix[at] * x[k];
    at += k % PANEL == PANEL - 1 ? (rows - 1) * PANEL + 1 : 1;  // on to the row's piece of the next panel
  }
  y[row] = sum;
}
