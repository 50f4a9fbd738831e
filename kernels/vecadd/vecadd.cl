// c = a + b, one element a thread: streaming and nothing else.
__kernel void vecadd(__global const float* restrict a, __global const float* restrict b, __global float* restrict c,
                     uint n) {
  const uint i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
