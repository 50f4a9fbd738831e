// Electrostatic potential on a lattice from charges within a cutoff: one layer of regions of 8 x 8 x 8 points a launch.
//
// A block is a region, 128 threads with four points each. Atoms are binned in cubes of a region's size, eight a bin
// (x, y, z, charge; a charge of 0 ends the bin); 32 bins at a time pass through local memory.

#define SIDE 8
#define THREADS 128
#define DEPTH 8
#define BATCH 32
#define POINTS 4

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void cutcp(
    __global const float4* restrict bins, __global const int* restrict neighbours, uint neighbour_count, uint layer,
    int bins_x, int bins_y, int padding, float spacing, float cutoff2, __global float* restrict potential) {
  __local float4 cache[BATCH * DEPTH];
  __local uint region[3];  // where this block's region lies
  __local int home;        // its own bin
  __local uint length;     // bins in the cache
  const uint thread = get_local_id(0);
  if (thread == 0) {
    region[0] = get_group_id(0);
    region[1] = get_group_id(1);
    region[2] = layer;
    home = (int)region[0] + padding + bins_x * ((int)region[1] + padding + bins_y * ((int)layer + padding));
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // Points of a thread: the same x and y, every other z.
  const uint px = thread % SIDE, py = thread / SIDE % SIDE, pz = thread / (SIDE * SIDE);
  const float x = (region[0] * SIDE + px) * spacing;
  const float y = (region[1] * SIDE + py) * spacing;
  const float z = (region[2] * SIDE + pz) * spacing;
  const float step = (SIDE / POINTS) * spacing;
  const float inverse = 1.0f / cutoff2;
  float energy[POINTS] = {0.0f, 0.0f, 0.0f, 0.0f};

  for (uint batch = 0; batch < neighbour_count; batch += BATCH) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread == 0) length = min((uint)BATCH, neighbour_count - batch);
    for (uint i = thread; i < BATCH * DEPTH; i += THREADS)
      if (batch + i / DEPTH < neighbour_count)
        cache[i] = bins[(home + neighbours[batch + i / DEPTH]) * DEPTH + i % DEPTH];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint bin = 0; bin < length; ++bin) {
      for (uint i = 0; i < DEPTH; ++i) {
        const float4 atom = cache[bin * DEPTH + i];
        if (atom.w == 0.0f) break;
        const float dx = atom.x - x, dy = atom.y - y;
        const float plane = dx * dx + dy * dy;
        float dz = atom.z - z;
#pragma unroll
        for (uint p = 0; p < POINTS; ++p) {
          const float r2 = plane + dz * dz;
          if (r2 < cutoff2) {
            const float s = 1.0f - r2 * inverse;
            energy[p] += atom.w * rsqrt(r2) * s * s;
          }
          dz -= step;
        }
      }
    }
  }

  const uint width = get_num_groups(0) * SIDE, height = get_num_groups(1) * SIDE;
#pragma unroll
  for (uint p = 0; p < POINTS; ++p)
    potential[region[0] * SIDE + px + width * (region[1] * SIDE + py +
              height * (region[2] * SIDE + pz + p * (SIDE / POINTS)))] = energy[p];
}
