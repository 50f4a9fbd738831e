// OpenCL C in terms of CUDA, so that nvcc compiles the zoo's kernels as they stand (`--ptx-from nvcc`).
//
// Placed before a kernel's text. Constructs that macros cannot express are rewritten in the text first: `__local` and
// `__constant` of a variable become CUDA's qualifiers (of a pointer they vanish), functions become __device__, and
// `(float4)(…)` make_float4(…).
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __kernel extern "C" __global__
#define __global
#define __private
#define restrict __restrict__
#define reqd_work_group_size(x, y, z)
#define WM_CUDA static __device__ __forceinline__

#define CLK_LOCAL_MEM_FENCE 1U
#define CLK_GLOBAL_MEM_FENCE 2U
#define barrier(flags) __syncthreads()
#define work_group_barrier(flags) __syncthreads()
#define mem_fence(flags) __threadfence_block()
#define read_mem_fence(flags) __threadfence_block()
#define write_mem_fence(flags) __threadfence_block()

#define WM_PICK(v) (d == 0 ? v.x : d == 1 ? v.y : v.z)
WM_CUDA uint get_local_id(uint d) { return WM_PICK(threadIdx); }
WM_CUDA uint get_group_id(uint d) { return WM_PICK(blockIdx); }
WM_CUDA uint get_local_size(uint d) { return WM_PICK(blockDim); }
WM_CUDA uint get_num_groups(uint d) { return WM_PICK(gridDim); }
WM_CUDA uint get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }
WM_CUDA uint get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
WM_CUDA uint get_global_offset(uint) { return 0; }

WM_CUDA float native_exp2(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
WM_CUDA float native_sqrt(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
WM_CUDA float native_log2(float x) { return __log2f(x); }
WM_CUDA float native_exp(float x) { return __expf(x); }
WM_CUDA float native_log(float x) { return __logf(x); }
WM_CUDA float native_sin(float x) { return __sinf(x); }
WM_CUDA float native_cos(float x) { return __cosf(x); }
WM_CUDA float native_rsqrt(float x) { return rsqrtf(x); }
WM_CUDA float native_divide(float a, float b) { return __fdividef(a, b); }
WM_CUDA float native_recip(float x) { return __fdividef(1.0f, x); }
WM_CUDA float native_powr(float x, float y) { return __powf(x, y); }

WM_CUDA float mad(float a, float b, float c) { return fmaf(a, b, c); }
WM_CUDA double mad(double a, double b, double c) { return ::fma(a, b, c); }
WM_CUDA float powr(float x, float y) { return powf(x, y); }
WM_CUDA float mix(float a, float b, float t) { return a + (b - a) * t; }
template <typename T>
WM_CUDA T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
template <typename T, typename C>
WM_CUDA T select(T no, T yes, C condition) {
  return condition ? yes : no;
}

WM_CUDA uint abs_diff(int a, int b) { return a > b ? (uint)a - (uint)b : (uint)b - (uint)a; }
WM_CUDA uint abs_diff(uint a, uint b) { return a > b ? a - b : b - a; }
WM_CUDA int mul24(int a, int b) { return a * b; }
WM_CUDA int mad24(int a, int b, int c) { return a * b + c; }
WM_CUDA int mul_hi(int a, int b) { return __mulhi(a, b); }
WM_CUDA uint mul_hi(uint a, uint b) { return __umulhi(a, b); }
WM_CUDA uint rotate(uint x, uint n) { return __funnelshift_l(x, x, n); }
WM_CUDA int popcount(uint x) { return __popc(x); }
WM_CUDA int clz(uint x) { return __clz((int)x); }

// OpenCL's atomics take volatile pointers; CUDA's do not, and are atomic all the same.
#define WM_ATOMIC(name, cuda)          \
  template <typename T>                \
  WM_CUDA T name(volatile T* p, T v) { \
    return cuda((T*)p, v);             \
  }
WM_ATOMIC(wm_add, atomicAdd)
WM_ATOMIC(wm_sub, atomicSub)
WM_ATOMIC(wm_min, atomicMin)
WM_ATOMIC(wm_max, atomicMax)
WM_ATOMIC(wm_and, atomicAnd)
WM_ATOMIC(wm_or, atomicOr)
WM_ATOMIC(wm_xor, atomicXor)
WM_ATOMIC(wm_xchg, atomicExch)
template <typename T>
WM_CUDA T wm_cas(volatile T* p, T old, T v) {
  return atomicCAS((T*)p, old, v);
}
// The value takes the pointer's type, as OpenCL converts it.
template <typename T>
struct WmPointee;
template <typename T>
struct WmPointee<T*> {
  using type = T;
};
template <typename T>
struct WmPointee<volatile T*> {
  using type = T;
};
template <typename P>
using WmValue = typename WmPointee<P>::type;
#define WM_AS(p, v) static_cast<WmValue<decltype(+(p))>>(v)
#define atomic_add(p, v) wm_add(p, WM_AS(p, v))
#define atomic_sub(p, v) wm_sub(p, WM_AS(p, v))
#define atomic_inc(p) wm_add(p, WM_AS(p, 1))
#define atomic_dec(p) wm_sub(p, WM_AS(p, 1))
#define atomic_min(p, v) wm_min(p, WM_AS(p, v))
#define atomic_max(p, v) wm_max(p, WM_AS(p, v))
#define atomic_and(p, v) wm_and(p, WM_AS(p, v))
#define atomic_or(p, v) wm_or(p, WM_AS(p, v))
#define atomic_xor(p, v) wm_xor(p, WM_AS(p, v))
#define atomic_xchg(p, v) wm_xchg(p, WM_AS(p, v))
#define atomic_cmpxchg(p, old, v) wm_cas(p, WM_AS(p, old), WM_AS(p, v))

template <typename To, typename From>
WM_CUDA To wm_astype(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_ keeps the size");
  union {
    From from;
    To to;
  } bits = {from};
  return bits.to;
}
#define as_int(x) wm_astype<int>(x)
#define as_uint(x) wm_astype<uint>(x)
#define as_float(x) wm_astype<float>(x)
#define as_long(x) wm_astype<long>(x)
#define as_ulong(x) wm_astype<ulong>(x)
#define as_double(x) wm_astype<double>(x)
#define as_float2(x) wm_astype<float2>(x)
#define as_float4(x) wm_astype<float4>(x)
#define as_uint4(x) wm_astype<uint4>(x)
#define as_uchar4(x) wm_astype<uchar4>(x)
#define convert_char(x) ((char)(x))
#define convert_uchar(x) ((uchar)(x))
#define convert_short(x) ((short)(x))
#define convert_ushort(x) ((ushort)(x))
#define convert_int(x) ((int)(x))
#define convert_uint(x) ((uint)(x))
#define convert_float(x) ((float)(x))
#define convert_double(x) ((double)(x))
#define convert_int_rtn(x) __float2int_rd(x)
#define convert_int_rtp(x) __float2int_ru(x)
#define convert_int_rte(x) __float2int_rn(x)
#define convert_int_rtz(x) __float2int_rz(x)
#define convert_uint_rte(x) __float2uint_rn(x)
#define convert_uint_rtz(x) __float2uint_rz(x)

#define M_PI_F 3.14159274101257f
#define M_PI_2_F 1.57079637050629f
#define M_LN2_F 0.693147182464600f
#define M_LOG2E_F 1.44269502162933f
#define M_SQRT2_F 1.41421353816986f
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef FLT_MAX
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#endif
#ifndef INT_MAX
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffU
#endif

// Element-wise arithmetic of vectors, and of vectors with scalars.
#define WM_EACH2(e) e(x) e(y)
#define WM_EACH3(e) WM_EACH2(e) e(z)
#define WM_EACH4(e) WM_EACH3(e) e(w)
#define WM_VECTOR(V, T, N)                                        \
  WM_CUDA V operator+(V a, V b) { WM_EACH##N(WM_ADD) return a; }  \
  WM_CUDA V operator-(V a, V b) { WM_EACH##N(WM_SUB) return a; }  \
  WM_CUDA V operator*(V a, V b) { WM_EACH##N(WM_MUL) return a; }  \
  WM_CUDA V operator/(V a, V b) { WM_EACH##N(WM_DIV) return a; }  \
  WM_CUDA V operator+(V a, T b) { WM_EACH##N(WM_ADDS) return a; } \
  WM_CUDA V operator-(V a, T b) { WM_EACH##N(WM_SUBS) return a; } \
  WM_CUDA V operator*(V a, T b) { WM_EACH##N(WM_MULS) return a; } \
  WM_CUDA V operator/(V a, T b) { WM_EACH##N(WM_DIVS) return a; } \
  WM_CUDA V operator*(T b, V a) { return a * b; }                 \
  WM_CUDA V& operator+=(V& a, V b) { return a = a + b; }          \
  WM_CUDA V& operator-=(V& a, V b) { return a = a - b; }          \
  WM_CUDA V& operator*=(V& a, V b) { return a = a * b; }          \
  WM_CUDA V& operator*=(V& a, T b) { return a = a * b; }
#define WM_ADD(c) a.c += b.c;
#define WM_SUB(c) a.c -= b.c;
#define WM_MUL(c) a.c *= b.c;
#define WM_DIV(c) a.c /= b.c;
#define WM_ADDS(c) a.c += b;
#define WM_SUBS(c) a.c -= b;
#define WM_MULS(c) a.c *= b;
#define WM_DIVS(c) a.c /= b;
#define WM_BITS(V, T, N)                                            \
  WM_CUDA V operator|(V a, V b) { WM_EACH##N(WM_OR) return a; }     \
  WM_CUDA V operator&(V a, V b) { WM_EACH##N(WM_AND) return a; }    \
  WM_CUDA V operator&(V a, T b) { WM_EACH##N(WM_ANDS) return a; }   \
  WM_CUDA V operator<<(V a, int b) { WM_EACH##N(WM_SHL) return a; } \
  WM_CUDA V operator>>(V a, int b) { WM_EACH##N(WM_SHR) return a; }
#define WM_OR(c) a.c |= b.c;
#define WM_AND(c) a.c &= b.c;
#define WM_ANDS(c) a.c &= b;
#define WM_SHL(c) a.c <<= b;
#define WM_SHR(c) a.c >>= b;
WM_BITS(int2, int, 2)
WM_BITS(int4, int, 4)
WM_BITS(uint2, uint, 2)
WM_BITS(uint4, uint, 4)
WM_VECTOR(float2, float, 2)
WM_VECTOR(float3, float, 3)
WM_VECTOR(float4, float, 4)
WM_VECTOR(int2, int, 2)
WM_VECTOR(int4, int, 4)
WM_VECTOR(uint2, uint, 2)
WM_VECTOR(uint4, uint, 4)
WM_CUDA float dot(float3 a, float3 b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }
WM_CUDA float dot(float4 a, float4 b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, a.w * b.w))); }
