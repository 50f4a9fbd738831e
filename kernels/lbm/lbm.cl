// One time step of a lattice-Boltzmann fluid (D3Q19, BGK): collide, then push each population to its neighbour.
//
// Populations are stored direction by direction, so that a warp reads and writes runs of words. A block is one row of
// cells. `margin` cells lie before and after the lattice, for what the outermost walls push outwards.

#define Q 19
#define WALL 1
#define LID 2

__constant int ex[Q] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
__constant int ey[Q] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
__constant int ez[Q] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
__constant int opposite[Q] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
__constant float weight[Q] = {1.0f / 3,  1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18,
                              1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36,
                              1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

__kernel void lbm(__global const float* restrict from, __global float* restrict to, __global const uint* restrict flags,
                  uint margin, uint stride, float omega, float lid_x, float lid_y) {
  const int nx = get_local_size(0), ny = get_num_groups(0);
  const int cell = get_local_id(0) + nx * (get_group_id(0) + ny * get_group_id(1));
  const uint flag = flags[cell];
  const int at = margin + cell;

  float f[Q];
#pragma unroll
  for (int d = 0; d < Q; ++d) f[d] = from[d * stride + at];

  if (flag == WALL) {  // arriving fluid is reflected
#pragma unroll
    for (int d = 0; d < Q; ++d) {
      const int o = opposite[d];
      to[o * stride + at + ex[o] + nx * (ey[o] + ny * ez[o])] = f[d];
    }
    return;
  }

  float rho = 0.0f, ux = 0.0f, uy = 0.0f, uz = 0.0f;
#pragma unroll
  for (int d = 0; d < Q; ++d) {
    rho += f[d];
    ux += ex[d] * f[d];
    uy += ey[d] * f[d];
    uz += ez[d] * f[d];
  }
  ux /= rho;
  uy /= rho;
  uz /= rho;
  if (flag == LID) {
    ux = lid_x;
    uy = lid_y;
    uz = 0.0f;
  }
  const float base = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int d = 0; d < Q; ++d) {
    const float eu = ex[d] * ux + ey[d] * uy + ez[d] * uz;
    const float equilibrium = weight[d] * rho * (base + 3.0f * eu + 4.5f * eu * eu);
    to[d * stride + at + ex[d] + nx * (ey[d] + ny * ez[d])] = (1.0f - omega) * f[d] + omega * equilibrium;
  }
}
