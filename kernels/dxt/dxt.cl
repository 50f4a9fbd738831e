// DXT1 compression, a block of 64 threads for each square of 4 x 4 texels. The texels are sorted along the diagonal of
// their colours; each way to cut the sorted row into four clusters has least-squares end colours, and the threads try
// all ways between them. Decisions use integer arithmetic or a single rounding, so every machine picks the same cut.
#define TEXELS 16
#define THREADS 64

static int expand5(int c) { return (c << 3) | (c >> 2); }
static int expand6(int c) { return (c << 2) | (c >> 4); }

// The end colour numerator * scale in `most` steps. The numerator is below 2^24, so exact as a float; fma rounds once.
static int quantise(int numerator, float scale, int max_level) {
  return clamp((int)fma((float)numerator, scale * (float)max_level, 0.5f), 0, max_level);
}

// Squared error of `count` texels with colour sum `sum` drawn as `drawn`, less the texels' own squares.
static int cost(int count, int sum, int drawn) { return drawn * (count * drawn - 2 * sum); }

// All four clusters of a channel, between the ends `a` and `b`; p1, p2, p3 are the sums up to the cuts, `all` of all.
static int channel_cost(int a, int b, int4 counts, int p1, int p2, int p3, int all) {
  return cost(counts.x, p1, a) + cost(counts.y, p2 - p1, (2 * a + b) / 3) + cost(counts.z, p3 - p2, (a + 2 * b) / 3) +
         cost(counts.w, all - p3, b);
}

__kernel void dxt(__global const uint* restrict image, __global const uint2* restrict cuts, int cut_count, int width,
                  __global uint2* restrict compressed) {
  __local int4 texel[TEXELS];
  __local int4 sorted[TEXELS];
  __local int4 prefix[TEXELS + 1];
  __local int along[TEXELS];
  __local int rank[TEXELS];
  __local int best_cost[THREADS];
  __local int best_cut[THREADS];
  __local uint best_ends[THREADS];
  const int thread = get_local_id(0);
  const int square = get_group_id(0);
  const int squares_a_row = width / 4;

  if (thread < TEXELS) {
    const int x = square % squares_a_row * 4 + thread % 4;
    const int y = square / squares_a_row * 4 + thread / 4;
    const uint pixel = image[y * width + x];
    texel[thread] = (int4)(pixel & 255u, (pixel >> 8) & 255u, (pixel >> 16) & 255u, 0);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // The diagonal of the colours' box that leans the way red and blue vary with green.
  if (thread < TEXELS) {
    int4 low = texel[0];
    int4 high = low;
    int4 sum = low;
    for (int i = 1; i < TEXELS; ++i) {
      const int4 c = texel[i];
      low = (int4)(min(low.x, c.x), min(low.y, c.y), min(low.z, c.z), 0);
      high = (int4)(max(high.x, c.x), max(high.y, c.y), max(high.z, c.z), 0);
      sum += c;
    }
    int red_green = 0;
    int blue_green = 0;
    for (int i = 0; i < TEXELS; ++i) {
      const int4 apart = texel[i] * TEXELS - sum;
      red_green += apart.x * apart.y;
      blue_green += apart.z * apart.y;
    }
    int4 axis = high - low;
    if (red_green < 0) axis.x = -axis.x;
    if (blue_green < 0) axis.z = -axis.z;
    const int4 mine = texel[thread];
    along[thread] = mine.x * axis.x + mine.y * axis.y + mine.z * axis.z;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (thread < TEXELS) {
    const int mine = along[thread];
    int before = 0;
    for (int i = 0; i < TEXELS; ++i) before += along[i] < mine || (along[i] == mine && i < thread);
    rank[thread] = before;
    sorted[before] = texel[thread];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (thread <= TEXELS) {
    int4 sum = (int4)(0, 0, 0, 0);
#pragma unroll 1
    for (int i = 0; i < thread; ++i) sum += sorted[i];
    prefix[thread] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  int least = INT_MAX;
  int least_cut = 0;
  uint least_ends = 0;
  const int4 all = prefix[TEXELS];
#pragma unroll 1
  for (int i = thread; i < cut_count; i += THREADS) {
    // The beginnings of clusters 1 to 3, in bytes; 1 / (85 determinant) of the normal equations.
    const uint2 cut = cuts[i];
    const int b1 = cut.x & 255u;
    const int b2 = (cut.x >> 8) & 255u;
    const int b3 = (cut.x >> 16) & 255u;
    const float scale = as_float(cut.y);
    const int4 p1 = prefix[b1];
    const int4 p2 = prefix[b2];
    const int4 p3 = prefix[b3];
    const int4 counts = (int4)(b1, b2 - b1, b3 - b2, TEXELS - b3);
    // In thirds, clusters weigh 3 2 1 0 towards end a and 0 1 2 3 towards end b.
    const int aa = 9 * counts.x + 4 * counts.y + counts.z;
    const int bb = 9 * counts.w + 4 * counts.z + counts.y;
    const int ab = 2 * (counts.y + counts.z);
    const int4 a = p1 + p2 + p3;
    const int4 b = 3 * all - a;
    const int red_a = quantise(bb * a.x - ab * b.x, scale, 31);
    const int red_b = quantise(aa * b.x - ab * a.x, scale, 31);
    const int green_a = quantise(bb * a.y - ab * b.y, scale, 63);
    const int green_b = quantise(aa * b.y - ab * a.y, scale, 63);
    const int blue_a = quantise(bb * a.z - ab * b.z, scale, 31);
    const int blue_b = quantise(aa * b.z - ab * a.z, scale, 31);
    const int total = channel_cost(expand5(red_a), expand5(red_b), counts, p1.x, p2.x, p3.x, all.x) +
                      channel_cost(expand6(green_a), expand6(green_b), counts, p1.y, p2.y, p3.y, all.y) +
                      channel_cost(expand5(blue_a), expand5(blue_b), counts, p1.z, p2.z, p3.z, all.z);
    if (total < least) {
      least = total;
      least_cut = i;
      least_ends = (uint)(red_a << 11 | green_a << 5 | blue_a) | (uint)(red_b << 11 | green_b << 5 | blue_b) << 16;
    }
  }
  best_cost[thread] = least;
  best_cut[thread] = least_cut;
  best_ends[thread] = least_ends;

  // The least cost, the first cut among equals.
  for (int apart_by = THREADS / 2; apart_by > 0; apart_by /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread < apart_by) {
      const int other = best_cost[thread + apart_by];
      const int other_cut = best_cut[thread + apart_by];
      if (other < best_cost[thread] || (other == best_cost[thread] && other_cut < best_cut[thread])) {
        best_cost[thread] = other;
        best_cut[thread] = other_cut;
        best_ends[thread] = best_ends[thread + apart_by];
      }
    }
  }
  if (thread != 0) return;

  // The format wants the greater end first; swapping ends flips the low bit of every code. Equal ends need no codes.
  const uint cut = cuts[best_cut[0]].x;
  const uint code_of_cluster = 0x78;  // 0 2 3 1, two bits each
  uint codes = 0;
  for (int i = 0; i < TEXELS; ++i) {
    const uint r = rank[i];
    const uint cluster = (r >= (cut & 255u)) + (r >= ((cut >> 8) & 255u)) + (r >= ((cut >> 16) & 255u));
    codes |= (code_of_cluster >> 2 * cluster & 3u) << 2 * i;
  }
  uint first = best_ends[0] & 0xffffu;
  uint second = best_ends[0] >> 16;
  if (first < second) {
    const uint swap = first;
    first = second;
    second = swap;
    codes ^= 0x55555555u;
  }
  if (first == second) codes = 0;
  compressed[square] = (uint2)(first | second << 16, codes);
}
