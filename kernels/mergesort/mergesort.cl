// A stable merge sort of key-value pairs. Merging by rank: an element's place in the merged run is its place in its own
// run plus the number of elements of the other run that go before it, which a binary search counts. Equal keys keep
// their order because the left run counts keys less than, the right run keys not greater than.
#define TILE 1024
#define BLOCK (TILE / 2)

// Counts the keys below `key`, or not above it, among `count` sorted keys.
static uint count_below(__local const uint* keys, uint count, uint key) {
  uint low = 0;
  uint high = count;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (keys[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
static uint count_up_to(__local const uint* keys, uint count, uint key) {
  uint low = 0;
  uint high = count;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (keys[middle] <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Sorts every tile of 1,024 pairs in shared memory, run lengths doubling.
__kernel void mergesort_shared(__global const uint* restrict key_in, __global const uint* restrict value_in,
                               __global uint* restrict key_out, __global uint* restrict value_out) {
  __local uint key[TILE];
  __local uint value[TILE];
  const uint thread = get_local_id(0);
  const uint base = get_group_id(0) * TILE;
  key[thread] = key_in[base + thread];
  value[thread] = value_in[base + thread];
  key[thread + BLOCK] = key_in[base + thread + BLOCK];
  value[thread + BLOCK] = value_in[base + thread + BLOCK];

#pragma unroll 1
  for (uint run = 1; run < TILE; run *= 2) {
    const uint place = thread & (run - 1);
    const uint left = 2 * (thread - place);
    const uint right = left + run;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint left_key = key[left + place];
    const uint left_value = value[left + place];
    const uint right_key = key[right + place];
    const uint right_value = value[right + place];
    const uint left_to = left + place + count_below(key + right, run, left_key);
    const uint right_to = left + place + count_up_to(key + left, run, right_key);
    barrier(CLK_LOCAL_MEM_FENCE);
    key[left_to] = left_key;
    value[left_to] = left_value;
    key[right_to] = right_key;
    value[right_to] = right_value;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  key_out[base + thread] = key[thread];
  value_out[base + thread] = value[thread];
  key_out[base + thread + BLOCK] = key[thread + BLOCK];
  value_out[base + thread + BLOCK] = value[thread + BLOCK];
}

// Counts the elements of the left run among the first `taken` merged elements.
static uint split(__global const uint* left, __global const uint* right, uint run, uint taken) {
  uint low = taken > run ? taken - run : 0;
  uint high = min(taken, run);
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (left[middle] <= right[taken - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Merges pairs of sorted runs of `run` pairs. A block makes 1,024 consecutive elements of the result: it finds which
// pieces of both runs they come from, brings those to shared memory and merges them by rank.
__kernel void mergesort_merge(__global const uint* restrict key_in, __global const uint* restrict value_in,
                              __global uint* restrict key_out, __global uint* restrict value_out, uint run) {
  __local uint key[TILE];
  __local uint border[2];
  const uint thread = get_local_id(0);
  const uint tile = get_group_id(0) * TILE;
  const uint start = tile / (2 * run) * (2 * run);  // start of the pair of runs
  __global const uint* left_key = key_in + start;
  __global const uint* right_key = left_key + run;
  if (thread < 2) border[thread] = split(left_key, right_key, run, tile - start + thread * TILE);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint left_from = border[0];
  const uint right_from = tile - start - left_from;
  const uint lefts = border[1] - left_from;
  const uint rights = TILE - lefts;

  // Left piece first, right piece behind it.
  uint value[2];
#pragma unroll
  for (uint k = 0; k < 2; ++k) {
    const uint i = thread + k * BLOCK;
    const uint from = start + (i < lefts ? left_from + i : run + right_from + i - lefts);
    key[i] = key_in[from];
    value[k] = value_in[from];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < 2; ++k) {
    const uint i = thread + k * BLOCK;
    const uint mine = key[i];
    const uint to = i < lefts ? i + count_below(key + lefts, rights, mine) : i - lefts + count_up_to(key, lefts, mine);
    key_out[tile + to] = mine;
    value_out[tile + to] = value[k];
  }
}
