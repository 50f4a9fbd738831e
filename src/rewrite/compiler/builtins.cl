// Built-in functions of OpenCL C that libclc lacks for NVIDIA's GPUs, or has in a form that the CUDA backend cannot use.
// They are linked before libclc's.

#define FUNCTION __attribute__((overloadable, always_inline))

// --- work items
// The backend passes these registers as parameters (rewrite/ptx/opencl_adapter.h): the group offset in 0 to 2, the
// global offset in 3 to 5, the number of groups in 6 to 8 and the work dimension in 9.
#define ENVIRONMENT(n) ({ uint v; __asm__("mov.b32 %0, %%envreg" #n ";" : "=r"(v)); v; })
#define BY_DIMENSION(x, y, z, other) (d == 0 ? (x) : d == 1 ? (y) : d == 2 ? (z) : (other))
#define SPECIAL(name) __nvvm_read_ptx_sreg_##name()

FUNCTION uint get_work_dim(void) { return ENVIRONMENT(9); }
FUNCTION size_t get_local_id(uint d) { return BY_DIMENSION(SPECIAL(tid_x), SPECIAL(tid_y), SPECIAL(tid_z), 0); }
FUNCTION size_t get_local_size(uint d) { return BY_DIMENSION(SPECIAL(ntid_x), SPECIAL(ntid_y), SPECIAL(ntid_z), 1); }
FUNCTION size_t get_num_groups(uint d) { return BY_DIMENSION(ENVIRONMENT(6), ENVIRONMENT(7), ENVIRONMENT(8), 1); }
FUNCTION size_t get_global_offset(uint d) { return BY_DIMENSION(ENVIRONMENT(3), ENVIRONMENT(4), ENVIRONMENT(5), 0); }
FUNCTION size_t get_group_id(uint d) {
  return BY_DIMENSION(SPECIAL(ctaid_x) + ENVIRONMENT(0), SPECIAL(ctaid_y) + ENVIRONMENT(1),
                      SPECIAL(ctaid_z) + ENVIRONMENT(2), 0);
}
FUNCTION size_t get_global_id(uint d) {
  return get_group_id(d) * get_local_size(d) + get_local_id(d) + get_global_offset(d);
}
FUNCTION size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }

// --- synchronisation
// A PTX barrier orders both memories, whatever the flags. LLVM assumes that the barrier's intrinsic writes no variable
// of the kernel and would keep local memory in registers across it; the empty statements forbid that.
#define NO_MOVE() __asm__ volatile("" ::: "memory")
FUNCTION __attribute__((convergent)) void barrier(cl_mem_fence_flags flags) {
  NO_MOVE();
  __syncthreads();
  NO_MOVE();
}
FUNCTION void mem_fence(cl_mem_fence_flags flags) {
  NO_MOVE();
  if (flags & CLK_GLOBAL_MEM_FENCE) {
    __nvvm_membar_gl();
  } else {
    __nvvm_membar_cta();
  }
  NO_MOVE();
}
FUNCTION void read_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
FUNCTION void write_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }

// --- functions of vectors, component by component
#define VECTORS_1(type, name)                                                                                   \
  FUNCTION type##2 name(type##2 x) { return (type##2)(name(x.s0), name(x.s1)); }                                \
  FUNCTION type##3 name(type##3 x) { return (type##3)(name(x.s0), name(x.s1), name(x.s2)); }                    \
  FUNCTION type##4 name(type##4 x) { return (type##4)(name(x.lo), name(x.hi)); }                                \
  FUNCTION type##8 name(type##8 x) { return (type##8)(name(x.lo), name(x.hi)); }                                \
  FUNCTION type##16 name(type##16 x) { return (type##16)(name(x.lo), name(x.hi)); }
#define VECTORS_2(type, name)                                                                                   \
  FUNCTION type##2 name(type##2 x, type##2 y) { return (type##2)(name(x.s0, y.s0), name(x.s1, y.s1)); }         \
  FUNCTION type##3 name(type##3 x, type##3 y) {                                                                 \
    return (type##3)(name(x.s0, y.s0), name(x.s1, y.s1), name(x.s2, y.s2));                                     \
  }                                                                                                             \
  FUNCTION type##4 name(type##4 x, type##4 y) { return (type##4)(name(x.lo, y.lo), name(x.hi, y.hi)); }         \
  FUNCTION type##8 name(type##8 x, type##8 y) { return (type##8)(name(x.lo, y.lo), name(x.hi, y.hi)); }         \
  FUNCTION type##16 name(type##16 x, type##16 y) { return (type##16)(name(x.lo, y.lo), name(x.hi, y.hi)); }

// --- approximate functions
// libclc's use instructions of LLVM that its code generator for PTX does not have.
#define NATIVE(name, value)                    \
  FUNCTION float name(float x) { return value; } \
  VECTORS_1(float, name)
NATIVE(native_exp2, __nvvm_ex2_approx_f(x))
NATIVE(native_exp, __nvvm_ex2_approx_f(x * 1.44269504f))
NATIVE(native_exp10, __nvvm_ex2_approx_f(x * 3.32192809f))
NATIVE(native_log2, __nvvm_lg2_approx_f(x))
NATIVE(native_log, __nvvm_lg2_approx_f(x) * 0.693147181f)
NATIVE(native_log10, __nvvm_lg2_approx_f(x) * 0.301029996f)
NATIVE(native_sin, __nvvm_sin_approx_f(x))
NATIVE(native_cos, __nvvm_cos_approx_f(x))
NATIVE(native_tan, __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)))
NATIVE(native_sqrt, __nvvm_sqrt_approx_f(x))
NATIVE(native_rsqrt, __nvvm_rsqrt_approx_f(x))
NATIVE(native_recip, __nvvm_div_approx_f(1.0f, x))
FUNCTION float native_divide(float x, float y) { return __nvvm_div_approx_f(x, y); }
VECTORS_2(float, native_divide)
FUNCTION float native_powr(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
VECTORS_2(float, native_powr)

// --- integers
#define MAD_HI_OF(type) \
  FUNCTION type mad_hi(type x, type y, type z) { return mul_hi(x, y) + z; }
#define FOR_ALL_WIDTHS(define, type) \
  define(type) define(type##2) define(type##3) define(type##4) define(type##8) define(type##16)
#define FOR_ALL_INTEGERS(define)                                                                      \
  define(char) define(uchar) define(short) define(ushort) define(int) define(uint) define(long) define(ulong)
#define MAD_HI(type) FOR_ALL_WIDTHS(MAD_HI_OF, type)
FOR_ALL_INTEGERS(MAD_HI)

// --- atomic functions of 64 bits
#define RELAXED __ATOMIC_RELAXED
#define ATOMICS_64(space, type)                                                                               \
  FUNCTION type atom_add(volatile space type* p, type x) { return __atomic_fetch_add(p, x, RELAXED); }        \
  FUNCTION type atom_sub(volatile space type* p, type x) { return __atomic_fetch_sub(p, x, RELAXED); }        \
  FUNCTION type atom_inc(volatile space type* p) { return __atomic_fetch_add(p, (type)1, RELAXED); }          \
  FUNCTION type atom_dec(volatile space type* p) { return __atomic_fetch_sub(p, (type)1, RELAXED); }          \
  FUNCTION type atom_min(volatile space type* p, type x) { return __atomic_fetch_min(p, x, RELAXED); }        \
  FUNCTION type atom_max(volatile space type* p, type x) { return __atomic_fetch_max(p, x, RELAXED); }        \
  FUNCTION type atom_and(volatile space type* p, type x) { return __atomic_fetch_and(p, x, RELAXED); }        \
  FUNCTION type atom_or(volatile space type* p, type x) { return __atomic_fetch_or(p, x, RELAXED); }          \
  FUNCTION type atom_xor(volatile space type* p, type x) { return __atomic_fetch_xor(p, x, RELAXED); }        \
  FUNCTION type atom_xchg(volatile space type* p, type x) { return __atomic_exchange_n(p, x, RELAXED); }      \
  FUNCTION type atom_cmpxchg(volatile space type* p, type expected, type x) {                                 \
    return __sync_val_compare_and_swap(p, expected, x);                                                       \
  }
ATOMICS_64(__global, long)
ATOMICS_64(__global, ulong)
ATOMICS_64(__local, long)
ATOMICS_64(__local, ulong)

// --- vectors of three components, which lie in memory as four
// A function that is defined here hides clang's other declarations of its name, so that those used are repeated.
#define DECLARED __attribute__((overloadable))
#define COPIES_OF_3(type)                                                                                             \
  DECLARED event_t async_work_group_copy(__local type##4*, const __global type##4*, size_t, event_t);                 \
  DECLARED event_t async_work_group_copy(__global type##4*, const __local type##4*, size_t, event_t);                 \
  DECLARED event_t async_work_group_strided_copy(__local type##4*, const __global type##4*, size_t, size_t, event_t); \
  DECLARED event_t async_work_group_strided_copy(__global type##4*, const __local type##4*, size_t, size_t, event_t); \
  FUNCTION event_t async_work_group_copy(__local type##3* to, const __global type##3* from, size_t n, event_t e) {    \
    return async_work_group_copy((__local type##4*)to, (const __global type##4*)from, n, e);                          \
  }                                                                                                                   \
  FUNCTION event_t async_work_group_copy(__global type##3* to, const __local type##3* from, size_t n, event_t e) {    \
    return async_work_group_copy((__global type##4*)to, (const __local type##4*)from, n, e);                          \
  }                                                                                                                   \
  FUNCTION event_t async_work_group_strided_copy(__local type##3* to, const __global type##3* from, size_t n,         \
                                                 size_t stride, event_t e) {                                          \
    return async_work_group_strided_copy((__local type##4*)to, (const __global type##4*)from, n, stride, e);          \
  }                                                                                                                   \
  FUNCTION event_t async_work_group_strided_copy(__global type##3* to, const __local type##3* from, size_t n,         \
                                                 size_t stride, event_t e) {                                          \
    return async_work_group_strided_copy((__global type##4*)to, (const __local type##4*)from, n, stride, e);          \
  }                                                                                                                   \
  FUNCTION void prefetch(const __global type##3* from, size_t n) {}
FOR_ALL_INTEGERS(COPIES_OF_3)
COPIES_OF_3(float)
COPIES_OF_3(double)

// --- stores of halves, rounded up and down
// libclc's give 0 for numbers below the smallest half. Here a number is rounded towards 0; where that lies on the wrong
// side, the result is the neighbour, whose bits differ by 1.
#define HALF_BITS(type, name, wrong)                                                        \
  FUNCTION ushort wm_half##name(type x) {                                                   \
    ushort bits;                                                                            \
    vstore_half_rtz(x, 0, (__private half*)&bits);                                          \
    return (ushort)(bits + ((type)vload_half(0, (const __private half*)&bits) wrong x));    \
  }
HALF_BITS(float, _rtp, <)
HALF_BITS(double, _rtp, <)
HALF_BITS(float, _rtn, >)
HALF_BITS(double, _rtn, >)
#define STORE_HALVES_OF(space, type, name, n, function, stride)                             \
  FUNCTION void function##name(type##n x, size_t i, space half* p) {                        \
    const type* parts = (const type*)&x;                                                    \
    for (uint k = 0; k < n; ++k) ((space ushort*)p)[i * stride + k] = wm_half##name(parts[k]); \
  }
#define STORE_HALVES(space, type, name)                                                     \
  FUNCTION void vstore_half##name(type x, size_t i, space half* p) { ((space ushort*)p)[i] = wm_half##name(x); } \
  STORE_HALVES_OF(space, type, name, 2, vstore_half2, 2)                                    \
  STORE_HALVES_OF(space, type, name, 3, vstore_half3, 3)                                    \
  STORE_HALVES_OF(space, type, name, 4, vstore_half4, 4)                                    \
  STORE_HALVES_OF(space, type, name, 8, vstore_half8, 8)                                    \
  STORE_HALVES_OF(space, type, name, 16, vstore_half16, 16)                                 \
  FUNCTION void vstorea_half##name(type x, size_t i, space half* p) { vstore_half##name(x, i, p); } \
  STORE_HALVES_OF(space, type, name, 2, vstorea_half2, 2)                                   \
  STORE_HALVES_OF(space, type, name, 3, vstorea_half3, 4)                                   \
  STORE_HALVES_OF(space, type, name, 4, vstorea_half4, 4)                                   \
  STORE_HALVES_OF(space, type, name, 8, vstorea_half8, 8)                                   \
  STORE_HALVES_OF(space, type, name, 16, vstorea_half16, 16)
#define ALL_STORES_OF_HALVES(space)                                                         \
  STORE_HALVES(space, float, _rtp)                                                          \
  STORE_HALVES(space, float, _rtn)                                                          \
  STORE_HALVES(space, double, _rtp)                                                         \
  STORE_HALVES(space, double, _rtn)
ALL_STORES_OF_HALVES(__global)
ALL_STORES_OF_HALVES(__local)
ALL_STORES_OF_HALVES(__private)

// --- common functions
#define SMOOTHSTEP_OF(n)                                                          \
  DECLARED double##n smoothstep(double##n, double##n, double##n);                 \
  FUNCTION double##n smoothstep(double edge0, double edge1, double##n x) {        \
    return smoothstep((double##n)(edge0), (double##n)(edge1), x);                 \
  }
SMOOTHSTEP_OF(2)
SMOOTHSTEP_OF(3)
SMOOTHSTEP_OF(4)
SMOOTHSTEP_OF(8)
SMOOTHSTEP_OF(16)

// --- gamma function
// libclc's gives infinity instead of 0 for large negative arguments, and takes the exponential function of a logarithm,
// which is not exact enough for large ones. The method and the coefficients are those of Moshier's Cephes library:
// Stirling's formula above 33, below that the recurrence to an argument between 2 and 3, and a quotient of polynomials.
// Two factors of the result, which may overflow as one.
static double2 wm_gamma_large(double x) {
  const double w = 1.0 / x;
  const double p =
      fma(fma(fma(fma(7.87311395793093628397E-4, w, -2.29549961613378126380E-4), w, -2.68132617805781232825E-3), w,
              3.47222221605458667310E-3),
          w, 8.33333333333482257126E-2);
  const double v = pow(x, 0.5 * x - 0.25);
  return (double2)(v, v / exp(x) * 2.50662827463100050242 * fma(w, p, 1.0));
}
static double wm_gamma_2_to_3(double x) {
  double p = 1.60119522476751861407E-4, q = -2.31581873324120129819E-5;
  p = fma(p, x, 1.19135147006586384913E-3);
  p = fma(p, x, 1.04213797561761569935E-2);
  p = fma(p, x, 4.76367800457137231464E-2);
  p = fma(p, x, 2.07448227648435975150E-1);
  p = fma(p, x, 4.94214826801497100753E-1);
  p = fma(p, x, 9.99999999999999996796E-1);
  q = fma(q, x, 5.39605580493303397842E-4);
  q = fma(q, x, -4.45641913851797240494E-3);
  q = fma(q, x, 1.18139785222060435552E-2);
  q = fma(q, x, 3.58236398605498653373E-2);
  q = fma(q, x, -2.34591795718243348568E-1);
  q = fma(q, x, 7.14304917030273074085E-2);
  q = fma(q, x, 1.0);
  return p / q;
}
FUNCTION double tgamma(double x) {
  const double magnitude = fabs(x);
  if (x == 0.0) return copysign((double)INFINITY, x);
  if (isnan(x) || (x < 0.0 && floor(x) == x)) return NAN;  // minus infinity, too
  if (magnitude > 33.0) {
    const double2 large = magnitude < 190.0 ? wm_gamma_large(magnitude) : (double2)(INFINITY);
    return x > 0.0 ? large.x * large.y : M_PI / (magnitude * sinpi(x)) / large.x / large.y;
  }
  double factor = 1.0;
  for (; x >= 3.0; x -= 1.0) factor *= x - 1.0;
  for (; x < 2.0; x += 1.0) {
    if (fabs(x) < 1e-9) return factor / (fma(0.57721566490153286, x, 1.0) * x);
    factor /= x;
  }
  return factor * wm_gamma_2_to_3(x - 2.0);
}
FUNCTION float tgamma(float x) { return (float)tgamma((double)x); }
VECTORS_1(float, tgamma)
VECTORS_1(double, tgamma)
