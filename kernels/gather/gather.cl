// Sums entries of a large table at random indices; the indices stream, the table does not.
__kernel void gather(__global const uint* restrict table, __global const uint* restrict index,
                     __global uint* restrict sum, uint gathers) {
  const uint i = get_global_id(0);
  const uint threads = get_global_size(0);
  uint total = 0;
#pragma unroll 4
  for (uint k = 0; k < gathers; ++k) total += table[index[k * threads + i]];
  sum[i] = total;
}
