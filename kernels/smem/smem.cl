// Reads shared memory with a stride between threads: gcd(stride, 32) lanes of a warp meet in one bank.
#define WORDS 4096

__kernel void smem(__global uint* restrict sum, uint stride, uint rounds) {
  __local uint tile[WORDS];
  const uint thread = get_local_id(0);
  for (uint i = thread; i < WORDS; i += get_local_size(0)) tile[i] = i * 2654435761u;
  barrier(CLK_LOCAL_MEM_FENCE);

  uint at = thread * stride % WORDS;
  uint total = 0;
#pragma unroll 1
  for (uint round = 0; round < rounds; ++round) {
#pragma unroll
    for (uint k = 0; k < 8; ++k) {
      total += tile[at];
      at = (at + 32) % WORDS;  // the same bank again
    }
  }
  sum[get_global_id(0)] = total;
}
