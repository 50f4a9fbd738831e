// The halves of a block pass one word per pair of threads back and forth through shared memory, a barrier at each turn.
#define PAIRS 128

__kernel void pingpong(__global const uint* restrict serve, __global uint* restrict last, uint rounds) {
  __local uint ball[PAIRS];
  const uint pair = get_local_id(0) % PAIRS;
  const bool far = get_local_id(0) >= PAIRS;
  const uint game = get_group_id(0) * PAIRS + pair;
  if (!far) ball[pair] = serve[game];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
  for (uint round = 0; round < rounds; ++round) {
    if (far) ball[pair] = ball[pair] * 1664525u + 1013904223u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!far) ball[pair] = (ball[pair] ^ (ball[pair] >> 13)) + round;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (far) last[game] = ball[pair];
}
