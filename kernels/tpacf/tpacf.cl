// Angular correlation of points on a sphere: histograms of the angles between pairs, as dot products against the bins'
// cosines.
//
// Block 0 counts the observed points among themselves, blocks 1..sets each random set among itself, the rest the
// observed points against each random set. Sixteen private histograms a warp keep neighbouring lanes apart.

#define THREADS 256
#define BINS 20
#define WARPS 8
#define COPIES 16

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void tpacf(
    __global const float* restrict x, __global const float* restrict y, __global const float* restrict z,
    __global const float* restrict edges, __global uint* restrict histograms, uint points, uint sets) {
  __local uint counts[BINS][WARPS * COPIES];
  __local float tile_x[THREADS], tile_y[THREADS], tile_z[THREADS];
  const uint thread = get_local_id(0), block = get_group_id(0);
  const bool self = block <= sets;
  const uint first = self ? block * points : 0;                // the set of the outer points
  const uint second = self ? first : (block - sets) * points;  // the set of the tiles
  const uint copy = (thread / 32) * COPIES + thread % COPIES;

  for (uint i = thread; i < BINS * WARPS * COPIES; i += THREADS) counts[i / (WARPS * COPIES)][i % (WARPS * COPIES)] = 0;

  for (uint base = 0; base < points; base += THREADS) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (base + thread < points) {
      tile_x[thread] = x[second + base + thread];
      tile_y[thread] = y[second + base + thread];
      tile_z[thread] = z[second + base + thread];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint tile = min((uint)THREADS, points - base);
    for (uint i = thread; i < points; i += THREADS) {
      const float px = x[first + i], py = y[first + i], pz = z[first + i];
      // Among themselves each pair counts once: the other must come later.
      for (uint j = self && i + 1 > base ? i + 1 - base : 0; j < tile; ++j) {
        const float dot = px * tile_x[j] + py * tile_y[j] + pz * tile_z[j];
        uint low = 0, high = BINS;  // edges fall; the bin is the last whose edge is not below the dot product
        while (high > low + 1) {
          const uint middle = (low + high) / 2;
          if (dot < edges[middle])
            low = middle;
          else
            high = middle;
        }
        atomic_inc(&counts[low][copy]);
      }
    }
  }

  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint bin = thread; bin < BINS; bin += THREADS) {
    uint sum = 0;
    for (uint i = 0; i < WARPS * COPIES; ++i) sum += counts[bin][(i + bin) % (WARPS * COPIES)];
    histograms[block * BINS + bin] = sum;
  }
}
