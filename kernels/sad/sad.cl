// Motion search of a video encoder: sums of absolute differences between each block of a frame and the blocks of a
// reference frame around it, 33 x 33 positions, for 4 x 4 pixels and merged into the larger shapes.
//
// Sums are 16 bits, POSITIONS a block padded to PADDED, so that two travel in a word: no sum exceeds 255 * 256.
// The output holds, for all macro-blocks, the shapes 16x16, 16x8, 8x16, 8x8, 8x4, 4x8, 4x4 (width x height) in that
// order, each macro-block by macro-block, in raster order within it.

#define RANGE 16
#define WINDOW 33
#define POSITIONS 1089
#define PADDED 1096
#define WORDS (PADDED / 2)
#define PER_THREAD 18

#define AT_16X16 0
#define AT_16X8 1
#define AT_8X16 3
#define AT_8X8 5
#define AT_8X4 9
#define AT_4X8 17
#define AT_4X4 25

// A group is a 4 x 4 block, a thread 18 neighbouring positions.
__kernel void sad_mb(__global const uchar* restrict frame, __global const uchar* restrict reference,
                     __global uint* restrict sads, int width, int height) {
  __local ushort sums[PADDED] __attribute__((aligned(4)));
  __local ushort current[16];
  const int thread = get_local_id(0);
  const int left = get_group_id(0) * 4, top = get_group_id(1) * 4;
  if (thread < 16) current[thread] = frame[(top + thread / 4) * width + left + thread % 4];
  if (thread < PADDED - POSITIONS) sums[POSITIONS + thread] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  const int last = min((thread + 1) * PER_THREAD, POSITIONS);
  for (int position = thread * PER_THREAD; position < last; ++position) {
    const int x0 = left + position % WINDOW - RANGE, y0 = top + position / WINDOW - RANGE;
    uint sum = 0;
#pragma unroll
    for (int y = 0; y < 4; ++y) {
      __global const uchar* row = reference + clamp(y0 + y, 0, height - 1) * width;  // the border repeats outwards
#pragma unroll
      for (int x = 0; x < 4; ++x) sum += abs_diff((int)current[4 * y + x], (int)row[clamp(x0 + x, 0, width - 1)]);
    }
    sums[position] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const uint across = width / 16, blocks = across * (height / 16);
  const uint block = (top / 16) * across + left / 16, part = top / 4 % 4 * 4 + left / 4 % 4;
  __global uint* out = sads + (blocks * AT_4X4 + block * 16 + part) * WORDS;
  for (uint i = thread; i < WORDS; i += get_local_size(0)) out[i] = ((__local uint*)sums)[i];
}

// A group is a macro-block, a row of 32 threads one of its 8 x 8 quarters: 8x4, 4x8 and 8x8 from 4x4.
__kernel void sad_8(__global uint* restrict sads) {
  const uint blocks = get_num_groups(0) * get_num_groups(1);
  const uint block = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  const uint quarter = get_local_id(1), qx = quarter % 2, qy = quarter / 2;
  __global const uint* in = sads + (blocks * AT_4X4 + block * 16 + qy * 8 + qx * 2) * WORDS;
  __global uint* wide = sads + (blocks * AT_8X4 + block * 8 + qy * 4 + qx) * WORDS;
  __global uint* tall = sads + (blocks * AT_4X8 + block * 8 + qy * 4 + qx * 2) * WORDS;
  __global uint* sum = sads + (blocks * AT_8X8 + block * 4 + quarter) * WORDS;
  for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0)) {
    const uint a = in[i], b = in[i + WORDS], c = in[i + 4 * WORDS], d = in[i + 5 * WORDS];
    wide[i] = a + b;
    wide[i + 2 * WORDS] = c + d;
    tall[i] = a + c;
    tall[i + WORDS] = b + d;
    sum[i] = a + b + c + d;
  }
}

// A group is a macro-block: 16x8, 8x16 and 16x16 from 8x8.
__kernel void sad_16(__global uint* restrict sads) {
  const uint blocks = get_num_groups(0) * get_num_groups(1);
  const uint block = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  __global const uint* in = sads + (blocks * AT_8X8 + block * 4) * WORDS;
  __global uint* wide = sads + (blocks * AT_16X8 + block * 2) * WORDS;
  __global uint* tall = sads + (blocks * AT_8X16 + block * 2) * WORDS;
  __global uint* sum = sads + (blocks * AT_16X16 + block) * WORDS;
  for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0)) {
    const uint a = in[i], b = in[i + WORDS], c = in[i + 2 * WORDS], d = in[i + 3 * WORDS];
    wide[i] = a + b;
    wide[i + WORDS] = c + d;
    tall[i] = a + c;
    tall[i + WORDS] = b + d;
    sum[i] = a + b + c + d;
  }
}
