// Gridding of non-Cartesian MRI samples: sort them by the grid cell they fall in, then every grid point gathers the
// samples near it, weighted by a Kaiser-Bessel window.
//
// A sample is six floats: x, y, z in grid units, real and imaginary part, density compensation.

#define FLOATS 6

// ---- keys -----------------------------------------------------------------------------------------------------------

// Samples past `count` get a key after all others; the launch covers whole tiles of the sort.
__kernel void mri_gridding_binning(__global const float* restrict samples, uint count, uint nx, uint ny, uint bins,
                                   __global uint* restrict keys, __global uint* restrict values,
                                   __global uint* restrict bin_counts) {
  const uint i = get_global_id(0);
  uint key = bins;
  if (i < count) {
    const uint x = (uint)samples[FLOATS * i], y = (uint)samples[FLOATS * i + 1], z = (uint)samples[FLOATS * i + 2];
    key = x + nx * (y + ny * z);
    atomic_inc(&bin_counts[key]);
  }
  keys[i] = key;
  values[i] = i;
}

// ---- exclusive scan -------------------------------------------------------------------------------------------------
// scanL1 scans 1024 words a block and puts the block's total into `sums`; scaninter1 and scaninter2 scan the sums, up
// and down a tree whose levels are launches; uniformAdd adds each block's offset.

#define PAD(i) ((i) + ((i) >> 4) + ((i) >> 8))  // no two words of a step share a bank
#define SCAN_THREADS 512
#define SCAN_TILE 1024
#define INTER_TILE 256

__kernel __attribute__((reqd_work_group_size(SCAN_THREADS, 1, 1))) void mri_gridding_scanL1(
    __global uint* restrict data, uint count, __global uint* restrict sums) {
  __local uint tile[SCAN_TILE + SCAN_TILE / 16 + SCAN_TILE / 256];
  const uint thread = get_local_id(0), base = get_group_id(0) * SCAN_TILE;
  const uint a = base + thread, b = a + SCAN_THREADS;
  tile[PAD(thread)] = a < count ? data[a] : 0;
  tile[PAD(thread + SCAN_THREADS)] = b < count ? data[b] : 0;
  uint offset = 1;
  for (uint active = SCAN_THREADS; active > 0; active >>= 1, offset <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread < active) {
      const uint left = offset * (2 * thread + 1) - 1, right = left + offset;
      tile[PAD(right)] += tile[PAD(left)];
    }
  }
  if (thread == 0) {
    sums[get_group_id(0)] = tile[PAD(SCAN_TILE - 1)];
    tile[PAD(SCAN_TILE - 1)] = 0;
  }
  for (uint active = 1; active <= SCAN_THREADS; active <<= 1) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread < active) {
      const uint left = offset * (2 * thread + 1) - 1, right = left + offset;
      const uint sum = tile[PAD(right)];
      tile[PAD(right)] = sum + tile[PAD(left)];
      tile[PAD(left)] = sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (a < count) data[a] = tile[PAD(thread)];
  if (b < count) data[b] = tile[PAD(thread + SCAN_THREADS)];
}

// The i-th word of a level that joins `stride` sums each: the last of its group, where the level below left its total.
#define LEVEL_WORD(i) (((i) + 1) * stride - 1)

__kernel void mri_gridding_scaninter1(__global uint* restrict sums, uint stride) {
  __local uint tile[INTER_TILE + INTER_TILE / 16 + INTER_TILE / 256];
  const uint thread = get_local_id(0), half_tile = get_local_size(0);
  const uint a = LEVEL_WORD(get_group_id(0) * 2 * half_tile + thread);
  const uint b = LEVEL_WORD(get_group_id(0) * 2 * half_tile + thread + half_tile);
  tile[PAD(thread)] = sums[a];
  tile[PAD(thread + half_tile)] = sums[b];
  uint offset = 1;
  for (uint active = half_tile; active > 0; active >>= 1, offset <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread < active) {
      const uint left = offset * (2 * thread + 1) - 1, right = left + offset;
      tile[PAD(right)] += tile[PAD(left)];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[a] = tile[PAD(thread)];
  sums[b] = tile[PAD(thread + half_tile)];
}

// `top` is 1 at the tree's root, whose prefix is 0; elsewhere the level above has put the prefix into the last word.
__kernel void mri_gridding_scaninter2(__global uint* restrict sums, uint stride, uint top) {
  __local uint tile[INTER_TILE + INTER_TILE / 16 + INTER_TILE / 256];
  const uint thread = get_local_id(0), half_tile = get_local_size(0);
  const uint a = LEVEL_WORD(get_group_id(0) * 2 * half_tile + thread);
  const uint b = LEVEL_WORD(get_group_id(0) * 2 * half_tile + thread + half_tile);
  tile[PAD(thread)] = sums[a];
  tile[PAD(thread + half_tile)] = thread == half_tile - 1 && top != 0 ? 0 : sums[b];
  uint offset = half_tile;
  for (uint active = 1; active <= half_tile; active <<= 1, offset >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread < active) {
      const uint left = offset * (2 * thread + 1) - 1, right = left + offset;
      const uint sum = tile[PAD(right)];
      tile[PAD(right)] = sum + tile[PAD(left)];
      tile[PAD(left)] = sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[a] = tile[PAD(thread)];
  sums[b] = tile[PAD(thread + half_tile)];
}

__kernel __attribute__((reqd_work_group_size(SCAN_THREADS, 1, 1))) void mri_gridding_uniformAdd(
    __global uint* restrict data, uint count, __global const uint* restrict sums) {
  __local uint offset;
  const uint a = get_group_id(0) * SCAN_TILE + get_local_id(0), b = a + SCAN_THREADS;
  if (get_local_id(0) == 0) offset = sums[get_group_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (a < count) data[a] += offset;
  if (b < count) data[b] += offset;
}

// ---- radix sort, four bits a pass -----------------------------------------------------------------------------------
// splitSort orders 1024 pairs within a block by their digit, keeping equal ones in order, and counts the digits;
// the counts are scanned; splitRearrange moves the pairs to their places.

#define SORT_THREADS 256
#define SORT_TILE 1024
#define DIGIT_BITS 4
#define DIGITS 16
#define SPREAD(i) ((i) + ((i) >> 4))
#define DIGIT(key) (((key) >> shift) & (DIGITS - 1))

// Puts item j of a thread at to[j] and takes the four at the thread's own place.
#define EXCHANGE(item)                                                              \
  barrier(CLK_LOCAL_MEM_FENCE);                                                     \
  for (uint j = 0; j < 4; ++j) tile[SPREAD(to[j])] = item[j];                       \
  barrier(CLK_LOCAL_MEM_FENCE);                                                     \
  for (uint j = 0; j < 4; ++j) item[j] = tile[SPREAD(4 * thread + j)];

// digit_counts[digit * blocks + block]
__kernel __attribute__((reqd_work_group_size(SORT_THREADS, 1, 1))) void mri_gridding_splitSort(
    __global uint4* restrict keys, __global uint4* restrict values, uint shift, __global uint* restrict digit_counts) {
  __local uint tile[SORT_TILE + SORT_TILE / 16];
  __local uint first[DIGITS], last[DIGITS], zeros;
  const uint thread = get_local_id(0), at = get_group_id(0) * SORT_THREADS + thread;
  const uint4 loaded_keys = keys[at], loaded_values = values[at];
  uint key[4] = {loaded_keys.x, loaded_keys.y, loaded_keys.z, loaded_keys.w};
  uint value[4] = {loaded_values.x, loaded_values.y, loaded_values.z, loaded_values.w};

  for (uint bit = shift; bit < shift + DIGIT_BITS; ++bit) {
    // Counts the items with a zero bit before this thread's item: an inclusive scan in two alternating halves.
    uint own = 0;
#pragma unroll
    for (uint j = 0; j < 4; ++j) own += 1 - ((key[j] >> bit) & 1);
    uint sum = own, half_at = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[thread] = sum;
    for (uint step = 1; step < SORT_THREADS; step <<= 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (thread >= step) sum += tile[half_at + thread - step];
      half_at = SORT_THREADS - half_at;
      tile[half_at + thread] = sum;
    }
    if (thread == SORT_THREADS - 1) zeros = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    uint to[4], before = sum - own;
#pragma unroll
    for (uint j = 0; j < 4; ++j) {
      const bool one = (key[j] >> bit) & 1;
      to[j] = one ? zeros + 4 * thread + j - before : before;
      before += one ? 0 : 1;
    }
    EXCHANGE(key)
    EXCHANGE(value)
  }
  keys[at] = (uint4)(key[0], key[1], key[2], key[3]);
  values[at] = (uint4)(value[0], value[1], value[2], value[3]);

  // Each digit's run begins and ends where the neighbour's digit differs.
  if (thread < DIGITS) first[thread] = last[thread] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint j = 0; j < 4; ++j) tile[SPREAD(4 * thread + j)] = DIGIT(key[j]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint j = 0; j < 4; ++j) {
    const uint i = 4 * thread + j, digit = DIGIT(key[j]);
    if (i > 0 && tile[SPREAD(i - 1)] != digit) first[digit] = i;
    if (i == SORT_TILE - 1 || tile[SPREAD(i + 1)] != digit) last[digit] = i + 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (thread < DIGITS) digit_counts[thread * get_num_groups(0) + get_group_id(0)] = last[thread] - first[thread];
}

__kernel __attribute__((reqd_work_group_size(SORT_THREADS, 1, 1))) void mri_gridding_splitRearrange(
    __global const uint* restrict keys, __global const uint* restrict values, uint shift,
    __global const uint* restrict digit_starts, __global uint* restrict sorted_keys,
    __global uint* restrict sorted_values) {
  __local uint digits[SORT_TILE];
  __local uint offset[DIGITS];  // from a place in this tile to the place in the complete array
  const uint thread = get_local_id(0), base = get_group_id(0) * SORT_TILE;
  for (uint i = thread; i < SORT_TILE; i += SORT_THREADS) digits[i] = DIGIT(keys[base + i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = thread; i < SORT_TILE; i += SORT_THREADS) {
    const uint digit = digits[i];
    if (i == 0 || digits[i - 1] != digit)
      offset[digit] = digit_starts[digit * get_num_groups(0) + get_group_id(0)] - i;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = thread; i < SORT_TILE; i += SORT_THREADS) {
    const uint to = offset[digits[i]] + i;
    sorted_keys[to] = keys[base + i];
    sorted_values[to] = values[base + i];
  }
}

__kernel void mri_gridding_reorder(__global const float* restrict samples, __global const uint* restrict order,
                                   __global float* restrict sorted, uint count) {
  const uint i = get_global_id(0);
  if (i >= count) return;
  const uint from = order[i];
#pragma unroll
  for (uint k = 0; k < FLOATS; ++k) sorted[FLOATS * i + k] = samples[FLOATS * from + k];
}

// ---- gridding -------------------------------------------------------------------------------------------------------

#define THREADS 64
#define WIDTH 8   // a block's points: 8 x 8 x 4, four along z a thread
#define DEPTH 4
#define BELOW 2   // a point at x reaches samples of the cells x - 2 to x + 1: the window's radius is 2
#define ABOVE 1
#define RADIUS2 4.0f

// (I0(6 sqrt(u)) - 1) / (I0(6) - 1) for u in (0, 1]: I0's series in (6/2)^2 u, which vanishes at the window's edge.
static float window(float u) {
  const float y = 9.0f * u;
  float p = 1.0f / 100;
  p = 1.0f / 81 * (1.0f + y * p);
  p = 1.0f / 64 * (1.0f + y * p);
  p = 1.0f / 49 * (1.0f + y * p);
  p = 1.0f / 36 * (1.0f + y * p);
  p = 1.0f / 25 * (1.0f + y * p);
  p = 1.0f / 16 * (1.0f + y * p);
  p = 1.0f / 9 * (1.0f + y * p);
  p = 1.0f / 4 * (1.0f + y * p);
  p = 1.0f + y * p;
  return y * p * (1.0f / 66.2344070f);
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void mri_gridding_gridding(
    __global const float* restrict sorted, __global const uint* restrict bin_starts, uint count,
    __global float2* restrict grid, __global float* restrict density) {
  __local float tile[FLOATS][THREADS];
  const int nx = get_num_groups(0) * WIDTH, ny = get_num_groups(1) * WIDTH, nz = get_num_groups(2) * DEPTH;
  const int thread = get_local_id(0);
  const int left = get_group_id(0) * WIDTH, top = get_group_id(1) * WIDTH, front = get_group_id(2) * DEPTH;
  const int x = left + thread % WIDTH, y = top + thread / WIDTH;
  float re[DEPTH], im[DEPTH], weight[DEPTH];
#pragma unroll
  for (int k = 0; k < DEPTH; ++k) re[k] = im[k] = weight[k] = 0.0f;

  // The cells of one row of the neighbourhood are neighbours in the sorted order too.
  const int low = max(left - BELOW, 0), high = min(left + WIDTH - 1 + ABOVE, nx - 1);
  for (int cz = max(front - BELOW, 0); cz <= min(front + DEPTH - 1 + ABOVE, nz - 1); ++cz) {
    for (int cy = max(top - BELOW, 0); cy <= min(top + WIDTH - 1 + ABOVE, ny - 1); ++cy) {
      const int row = nx * (cy + ny * cz);
      const uint first = bin_starts[row + low];
      const uint last = row + high + 1 < nx * ny * nz ? bin_starts[row + high + 1] : count;
      for (uint base = first; base < last; base += THREADS) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (base + thread < last)
          for (uint k = 0; k < FLOATS; ++k) tile[k][thread] = sorted[FLOATS * (base + thread) + k];
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint length = min((uint)THREADS, last - base);
        for (uint j = 0; j < length; ++j) {
          const float dx = tile[0][j] - x, dy = tile[1][j] - y;
          const float plane = dx * dx + dy * dy;
          if (plane >= RADIUS2) continue;
#pragma unroll
          for (int k = 0; k < DEPTH; ++k) {
            const float dz = tile[2][j] - (front + k);
            const float r2 = plane + dz * dz;
            if (r2 < RADIUS2) {
              const float w = window(1.0f - r2 * (1.0f / RADIUS2)) * tile[5][j];
              re[k] += w * tile[3][j];
              im[k] += w * tile[4][j];
              weight[k] += w;
            }
          }
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < DEPTH; ++k) {
    const uint at = x + nx * (y + ny * (front + k));
    grid[at] = (float2)(re[k], im[k]);
    density[at] = weight[k];
  }
}
