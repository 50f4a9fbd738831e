// Read-modify-write in global memory, the ways kernels use it. Every result is independent of the order of the threads,
// except that `ticket` hands out places in whatever order they are asked for.

// A histogram: many threads, few counters.
__kernel void atomics_add(__global const uint* restrict values, __global int* restrict bins, uint bin_mask) {
  atomic_add(&bins[values[get_global_id(0)] & bin_mask], 1);
}

// The largest value of every bin.
__kernel void atomics_max(__global const uint* restrict values, __global int* restrict largest, uint bin_mask) {
  const uint value = values[get_global_id(0)];
  atomic_max(&largest[value & bin_mask], (int)(value >> 1));
}

// Sums modulo a prime: no single instruction does that, so compare and swap until no other thread has interfered.
__kernel void atomics_cas(__global const uint* restrict values, __global uint* restrict sums, uint bin_mask,
                          uint prime) {
  const uint value = values[get_global_id(0)];
  volatile __global uint* sum = &sums[value & bin_mask];
  uint seen = *sum;
  for (;;) {
    const uint found = atomic_cmpxchg(sum, seen, (seen + (value >> 8)) % prime);
    if (found == seen) break;
    seen = found;
  }
}

// Stream compaction: a thread whose value passes takes a ticket and writes to that place.
__kernel void atomics_ticket(__global const uint* restrict values, __global uint* restrict counter,
                             __global uint* restrict passed, uint below) {
  const uint value = values[get_global_id(0)];
  if (value < below) passed[atomic_inc(counter)] = value;
}
