// Integer functions.
#pragma once

#define WM_MIN_MAX(T)                                  \
  WM_BUILTIN T min(T a, T b) { return a < b ? a : b; } \
  WM_BUILTIN T max(T a, T b) { return a > b ? a : b; } \
  WM_BUILTIN T clamp(T x, T low, T high) { return min(max(x, low), high); }
WM_MIN_MAX(char)
WM_MIN_MAX(uchar)
WM_MIN_MAX(short)
WM_MIN_MAX(ushort)
WM_MIN_MAX(int)
WM_MIN_MAX(uint)
WM_MIN_MAX(long)
WM_MIN_MAX(ulong)
#undef WM_MIN_MAX

WM_BUILTIN uint abs(int x) { return x < 0 ? 0U - (uint)x : (uint)x; }
WM_BUILTIN uint abs_diff(int a, int b) { return a > b ? (uint)a - (uint)b : (uint)b - (uint)a; }
WM_BUILTIN uint abs_diff(uint a, uint b) { return a > b ? a - b : b - a; }
WM_BUILTIN int mul24(int a, int b) { return a * b; }
WM_BUILTIN uint mul24(uint a, uint b) { return a * b; }
WM_BUILTIN int mad24(int a, int b, int c) { return a * b + c; }
WM_BUILTIN uint mad24(uint a, uint b, uint c) { return a * b + c; }
WM_BUILTIN int mul_hi(int a, int b) { return (int)(((long)a * b) >> 32); }
WM_BUILTIN uint mul_hi(uint a, uint b) { return (uint)(((ulong)a * b) >> 32); }
WM_BUILTIN uint rotate(uint x, uint n) { return (x << (n & 31)) | (x >> ((32 - n) & 31)); }
WM_BUILTIN int popcount(int x) { return __builtin_popcount((uint)x); }
WM_BUILTIN uint popcount(uint x) { return (uint)__builtin_popcount(x); }
WM_BUILTIN int clz(int x) { return x == 0 ? 32 : __builtin_clz((uint)x); }
WM_BUILTIN uint clz(uint x) { return x == 0 ? 32 : (uint)__builtin_clz(x); }

#define WM_SELECT(T, C) \
  WM_BUILTIN T select(T no, T yes, C condition) { return condition ? yes : no; }
WM_SELECT(int, int)
WM_SELECT(int, uint)
WM_SELECT(uint, int)
WM_SELECT(uint, uint)
WM_SELECT(float, int)
WM_SELECT(float, uint)
#undef WM_SELECT
