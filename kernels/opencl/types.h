// The standard's type names, vectors, reinterpretations and conversions.
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

#define WM_VECTORS(T)                                 \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4))); \
  typedef T T##8 __attribute__((ext_vector_type(8))); \
  typedef T T##16 __attribute__((ext_vector_type(16)));
WM_VECTORS(char)
WM_VECTORS(uchar)
WM_VECTORS(short)
WM_VECTORS(ushort)
WM_VECTORS(int)
WM_VECTORS(uint)
WM_VECTORS(long)
WM_VECTORS(ulong)
WM_VECTORS(float)
WM_VECTORS(double)
#undef WM_VECTORS

// A built-in: overloaded on its argument types as the standard has them, and never a call in the PTX.
#define WM_BUILTIN __attribute__((overloadable, always_inline)) static inline

#define NULL ((void*)0)
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffU
#define M_PI_F 3.14159274101257f
#define M_PI_2_F 1.57079637050629f
#define M_LN2_F 0.693147182464600f
#define M_LOG2E_F 1.44269502162933f
#define M_SQRT2_F 1.41421353816986f

#define as_char(x) __builtin_astype((x), char)
#define as_uchar(x) __builtin_astype((x), uchar)
#define as_int(x) __builtin_astype((x), int)
#define as_uint(x) __builtin_astype((x), uint)
#define as_float(x) __builtin_astype((x), float)
#define as_long(x) __builtin_astype((x), long)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_double(x) __builtin_astype((x), double)
#define as_uchar4(x) __builtin_astype((x), uchar4)
#define as_uint2(x) __builtin_astype((x), uint2)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_int4(x) __builtin_astype((x), int4)
#define as_float2(x) __builtin_astype((x), float2)
#define as_float4(x) __builtin_astype((x), float4)

#define convert_char(x) ((char)(x))
#define convert_uchar(x) ((uchar)(x))
#define convert_short(x) ((short)(x))
#define convert_ushort(x) ((ushort)(x))
#define convert_int(x) ((int)(x))
#define convert_uint(x) ((uint)(x))
#define convert_long(x) ((long)(x))
#define convert_ulong(x) ((ulong)(x))
#define convert_float(x) ((float)(x))
#define convert_double(x) ((double)(x))
#define convert_int_rtn(x) __nvvm_f2i_rm(x)
#define convert_int_rtp(x) __nvvm_f2i_rp(x)
#define convert_int_rte(x) __nvvm_f2i_rn(x)
#define convert_int_rtz(x) __nvvm_f2i_rz(x)
#define convert_uint_rte(x) __nvvm_f2ui_rn(x)
#define convert_uint_rtz(x) __nvvm_f2ui_rz(x)
#define convert_int2(x) __builtin_convertvector((x), int2)
#define convert_int4(x) __builtin_convertvector((x), int4)
#define convert_uint2(x) __builtin_convertvector((x), uint2)
#define convert_uint4(x) __builtin_convertvector((x), uint4)
#define convert_uchar4(x) __builtin_convertvector((x), uchar4)
#define convert_float2(x) __builtin_convertvector((x), float2)
#define convert_float3(x) __builtin_convertvector((x), float3)
#define convert_float4(x) __builtin_convertvector((x), float4)
