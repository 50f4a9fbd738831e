// 32-bit atomics on global and local memory, and 64-bit addition. Relaxed in effect: PTX's atom without a fence.
#pragma once

#define WM_ATOMICS(T, SPACE, MIN, MAX)                                                     \
  WM_BUILTIN T atomic_add(volatile SPACE T* p, T v) { return __sync_fetch_and_add(p, v); } \
  WM_BUILTIN T atomic_sub(volatile SPACE T* p, T v) { return __sync_fetch_and_sub(p, v); } \
  WM_BUILTIN T atomic_inc(volatile SPACE T* p) { return __sync_fetch_and_add(p, (T)1); }   \
  WM_BUILTIN T atomic_dec(volatile SPACE T* p) { return __sync_fetch_and_sub(p, (T)1); }   \
  WM_BUILTIN T atomic_and(volatile SPACE T* p, T v) { return __sync_fetch_and_and(p, v); } \
  WM_BUILTIN T atomic_or(volatile SPACE T* p, T v) { return __sync_fetch_and_or(p, v); }   \
  WM_BUILTIN T atomic_xor(volatile SPACE T* p, T v) { return __sync_fetch_and_xor(p, v); } \
  WM_BUILTIN T atomic_min(volatile SPACE T* p, T v) { return MIN(p, v); }                  \
  WM_BUILTIN T atomic_max(volatile SPACE T* p, T v) { return MAX(p, v); }                  \
  WM_BUILTIN T atomic_xchg(volatile SPACE T* p, T v) { return __sync_swap(p, v); }         \
  WM_BUILTIN T atomic_cmpxchg(volatile SPACE T* p, T old, T v) { return __sync_val_compare_and_swap(p, old, v); }
WM_ATOMICS(int, __global, __sync_fetch_and_min, __sync_fetch_and_max)
WM_ATOMICS(int, __local, __sync_fetch_and_min, __sync_fetch_and_max)
WM_ATOMICS(uint, __global, __sync_fetch_and_umin, __sync_fetch_and_umax)
WM_ATOMICS(uint, __local, __sync_fetch_and_umin, __sync_fetch_and_umax)
#undef WM_ATOMICS

WM_BUILTIN float atomic_xchg(volatile __global float* p, float v) {
  return as_float(__sync_swap((volatile __global uint*)p, as_uint(v)));
}
WM_BUILTIN float atomic_xchg(volatile __local float* p, float v) {
  return as_float(__sync_swap((volatile __local uint*)p, as_uint(v)));
}
