// A chain of dependent loads, sixteen to a loop round so that the loop hides behind them: the latency of one level of
// the memory hierarchy, chosen by how much memory the chain visits.
__kernel void chase(__global const uint* restrict next, __global uint* restrict last, uint spacing, uint rounds) {
  const uint walker = get_global_id(0);
  uint at = walker * spacing;
#pragma unroll 1
  for (uint round = 0; round < rounds; ++round) {
#pragma unroll
    for (uint hop = 0; hop < 16; ++hop) at = next[at];
  }
  last[walker] = at;
}
