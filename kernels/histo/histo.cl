// Saturating histogram (8 bits a bin) of an image whose values crowd into a part of the bins.
//
// prescan finds that part, intermediates turns each value into a stripe of bins and a place in it, main counts one
// stripe a row of blocks in local memory, final saturates the counts and clears them for the next image.

#define STRIPE 6144
#define PRESCAN_THREADS 512
#define ROWS 16

// range = (smallest, largest) value; the host resets it before every image.
__kernel __attribute__((reqd_work_group_size(PRESCAN_THREADS, 1, 1))) void histo_prescan(
    __global const uint* restrict image, uint pixels, __global uint* restrict range) {
  __local uint smallest[PRESCAN_THREADS], largest[PRESCAN_THREADS];
  const uint thread = get_local_id(0);
  uint low = 0xffffffffU, high = 0;
  for (uint i = get_global_id(0); i < pixels; i += get_global_size(0)) {
    const uint value = image[i];
    low = min(low, value);
    high = max(high, value);
  }
  smallest[thread] = low;
  largest[thread] = high;
  for (uint step = PRESCAN_THREADS / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread < step) {
      smallest[thread] = min(smallest[thread], smallest[thread + step]);
      largest[thread] = max(largest[thread], largest[thread + step]);
    }
  }
  if (thread == 0) {
    atomic_min(&range[0], smallest[0]);
    atomic_max(&range[1], largest[0]);
  }
}

// A block is 16 rows, a thread two columns of them. mapped = stripe from the first used one << 16 | bin in the stripe.
__kernel void histo_intermediates(__global const uint2* restrict image, __global const uint* restrict range,
                                  __global uint2* restrict mapped) {
  const uint first = range[0] / STRIPE;
  const uint pairs = get_local_size(0);
  uint at = get_group_id(0) * ROWS * pairs + get_local_id(0);
#pragma unroll 4
  for (uint row = 0; row < ROWS; ++row, at += pairs) {
    const uint2 value = image[at];
    const uint2 stripe = value / STRIPE;
    mapped[at] = ((stripe - first) << 16) | (value - stripe * STRIPE);
  }
}

// Group (x, y) counts stripe y in its share of the image.
__kernel void histo_main(__global const uint* restrict mapped, uint pixels, __global const uint* restrict range,
                         __global uint* restrict counts) {
  __local uint local_counts[STRIPE];
  const uint thread = get_local_id(0), threads = get_local_size(0), stripe = get_group_id(1);
  for (uint i = thread; i < STRIPE; i += threads) local_counts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < pixels; i += get_global_size(0)) {
    const uint value = mapped[i];
    if (value >> 16 == stripe) atomic_inc(&local_counts[value & 0xffff]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  __global uint* out = counts + (range[0] / STRIPE + stripe) * STRIPE;
  for (uint i = thread; i < STRIPE; i += threads)
    if (local_counts[i] != 0) atomic_add(&out[i], local_counts[i]);
}

__kernel void histo_final(__global uint4* restrict counts, __global uchar4* restrict histogram, uint quads) {
  for (uint i = get_global_id(0); i < quads; i += get_global_size(0)) {
    const uint4 c = counts[i];
    counts[i] = (uint4)(0, 0, 0, 0);
    histogram[i] = (uchar4)(min(c.x, 255U), min(c.y, 255U), min(c.z, 255U), min(c.w, 255U));
  }
}
