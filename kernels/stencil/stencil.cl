// One step of 3D diffusion, 7 points. A thread owns a column and walks along z with three planes' values in registers.

#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))

__kernel __attribute__((reqd_work_group_size(32, 32, 1))) void stencil(
    __global const float* restrict in, __global float* restrict out, uint nx, uint ny, uint nz, float centre,
    float side) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;  // the border keeps its values
  float below = in[AT(x, y, 0)];
  float current = in[AT(x, y, 1)];
  for (uint z = 1; z < nz - 1; ++z) {
    const float above = in[AT(x, y, z + 1)];
    const float sum = in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)] + in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)];
    out[AT(x, y, z)] = centre * current + side * (sum + below + above);
    below = current;
    current = above;
  }
}
