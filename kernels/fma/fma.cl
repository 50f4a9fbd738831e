// Four independent chains of fused multiply-adds a thread, two links each in every round: arithmetic and nothing else.
__kernel void fma_loop(__global const float* restrict start, __global float* restrict result, float a, float b,
                       uint rounds) {
  const uint i = get_global_id(0);
  float x = start[i];
  float y = x + 0.25f;
  float z = x + 0.5f;
  float w = x + 0.75f;
#pragma unroll 1
  for (uint round = 0; round < rounds; ++round) {
    x = fma(x, a, b);
    y = fma(y, a, b);
    z = fma(z, a, b);
    w = fma(w, a, b);
    x = fma(x, b, a);
    y = fma(y, b, a);
    z = fma(z, b, a);
    w = fma(w, b, a);
  }
  result[i] = (x + y) + (z + w);
}
