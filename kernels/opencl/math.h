// Floating-point functions, in the instructions a vendor's compiler would choose for OpenCL: native_* is one
// approximate instruction, exp/log/sin/cos reduce the range first and stay within the standard's 3 to 4 ulp (sin and
// cos up to |x| = 10^5; pow to about |y log2 x| ulp).
#pragma once

WM_BUILTIN float fabs(float x) { return __builtin_fabsf(x); }
WM_BUILTIN float floor(float x) { return __builtin_floorf(x); }
WM_BUILTIN float ceil(float x) { return __builtin_ceilf(x); }
WM_BUILTIN float trunc(float x) { return __builtin_truncf(x); }
WM_BUILTIN float rint(float x) { return __builtin_rintf(x); }
WM_BUILTIN float round(float x) { return __builtin_copysignf(__builtin_floorf(__builtin_fabsf(x) + 0.5f), x); }
WM_BUILTIN float fmin(float a, float b) { return __builtin_fminf(a, b); }
WM_BUILTIN float fmax(float a, float b) { return __builtin_fmaxf(a, b); }
WM_BUILTIN float min(float a, float b) { return __builtin_fminf(a, b); }
WM_BUILTIN float max(float a, float b) { return __builtin_fmaxf(a, b); }
WM_BUILTIN float clamp(float x, float low, float high) { return fmin(fmax(x, low), high); }
WM_BUILTIN float copysign(float x, float y) { return __builtin_copysignf(x, y); }
WM_BUILTIN float mix(float a, float b, float t) { return a + (b - a) * t; }
WM_BUILTIN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WM_BUILTIN float mad(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WM_BUILTIN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WM_BUILTIN double mad(double a, double b, double c) { return __builtin_fma(a, b, c); }
WM_BUILTIN double fabs(double x) { return __builtin_fabs(x); }
WM_BUILTIN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }

WM_BUILTIN float native_exp2(float x) { return __nvvm_ex2_approx_f(x); }
WM_BUILTIN float native_log2(float x) { return __nvvm_lg2_approx_f(x); }
WM_BUILTIN float native_exp(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
WM_BUILTIN float native_log(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }
WM_BUILTIN float native_sin(float x) { return __nvvm_sin_approx_f(x); }
WM_BUILTIN float native_cos(float x) { return __nvvm_cos_approx_f(x); }
WM_BUILTIN float native_sqrt(float x) { return __nvvm_sqrt_approx_f(x); }
WM_BUILTIN float native_rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
WM_BUILTIN float native_divide(float a, float b) { return __nvvm_div_approx_f(a, b); }
WM_BUILTIN float native_recip(float x) { return __nvvm_div_approx_f(1.0f, x); }
WM_BUILTIN float native_powr(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }

WM_BUILTIN float sqrt(float x) { return __nvvm_sqrt_approx_f(x); }
WM_BUILTIN float rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
WM_BUILTIN float hypot(float x, float y) { return __nvvm_sqrt_approx_f(x * x + y * y); }

// 2^n for the integer part, the instruction for the rest; n is clamped so that neither factor leaves the range early.
WM_BUILTIN float exp2(float x) {
  const float n = fmin(fmax(rint(x), -126.0f), 127.0f);
  return native_exp2(x - n) * native_exp2(n);
}
WM_BUILTIN float exp(float x) {
  const float n = fmin(fmax(rint(x * 1.44269504f), -126.0f), 127.0f);
  float r = fma(n, -0x1.62e4p-1f, x);  // ln 2 in two parts: the first has 14 bits, so n times it is exact
  r = fma(n, -0x1.7f7d1cp-20f, r);
  return native_exp2(r * 1.44269504f) * native_exp2(n);
}

// x = 2^e m with m in [2/3, 4/3); log m = 2 artanh((m - 1) / (m + 1)).
WM_BUILTIN float log(float x) {
  const float scale = x < FLT_MIN ? 0x1.0p23f : 1.0f;  // subnormals
  const float y = x * scale;
  const int e = (as_int(y) - 0x3f2aaaab) >> 23;
  const float f = as_float(as_int(y) - (e << 23)) - 1.0f;
  const float s = f / (2.0f + f);
  const float s2 = s * s;
  float p = fma(s2, 0.2222222f, 0.2857143f);
  p = fma(s2, p, 0.4f);
  p = fma(s2, p, 0.6666667f);
  // log(1+f) = f - s (f - s2 p): the leading term is exact, so values of x near 1 lose nothing.
  const float m = f - s * (f - s2 * p);
  const float n = (float)e - (scale == 1.0f ? 0.0f : 23.0f);
  const float r = fma(n, 0x1.62e4p-1f, fma(n, 0x1.7f7d1cp-20f, m));
  return x > 0.0f && x < INFINITY ? r : native_log2(x);  // 0, negative, infinite, NaN: the instruction is exact there
}
WM_BUILTIN float log2(float x) { return x > 0.5f && x < 2.0f ? log(x) * 1.44269504f : native_log2(x); }
WM_BUILTIN float log10(float x) { return log(x) * 0.434294482f; }
WM_BUILTIN float exp10(float x) { return exp2(x * 3.32192809f); }
WM_BUILTIN float powr(float x, float y) { return exp2(y * log2(x)); }
WM_BUILTIN float pow(float x, float y) {
  const float r = exp2(y * log2(fabs(x)));
  const bool integral = rint(y) == y;
  const bool odd = integral && rint(y * 0.5f) != y * 0.5f;
  if (y == 0.0f) return 1.0f;
  return x < 0.0f ? (integral ? (odd ? -r : r) : NAN) : r;
}

// Quadrant by pi/2 in three parts, then the odd and even polynomials on [-pi/4, pi/4].
WM_BUILTIN float wm_quadrant(float x, __private int* quadrant) {
  const float n = rint(x * 0.636619772f);
  *quadrant = (int)n;
  float r = fma(n, -0x1.921fb0p0f, x);
  r = fma(n, -0x1.5110b4p-22f, r);
  return fma(n, -0x1.846988p-48f, r);
}
WM_BUILTIN float wm_sin_part(float r, float r2) {
  const float p = fma(r2, fma(r2, -1.95152959e-4f, 8.33216087e-3f), -1.66666546e-1f);
  return fma(r * r2, p, r);
}
WM_BUILTIN float wm_cos_part(float r2) {
  const float p = fma(r2, fma(r2, 2.44331571e-5f, -1.38873162e-3f), 4.16666457e-2f);
  return fma(r2, fma(r2, p, -0.5f), 1.0f);
}
WM_BUILTIN float sin(float x) {
  int q;
  const float r = wm_quadrant(x, &q);
  const float v = (q & 1) ? wm_cos_part(r * r) : wm_sin_part(r, r * r);
  return (q & 2) ? -v : v;
}
WM_BUILTIN float cos(float x) {
  int q;
  const float r = wm_quadrant(x, &q);
  const float v = (q & 1) ? wm_sin_part(r, r * r) : wm_cos_part(r * r);
  return ((q + 1) & 2) ? -v : v;
}
WM_BUILTIN float tan(float x) { return sin(x) / cos(x); }
WM_BUILTIN float tanh(float x) {
  const float a = fabs(x);
  const float large = 1.0f - 2.0f / (exp(2.0f * a) + 1.0f);
  const float x2 = x * x;
  const float small = fma(x * x2, fma(x2, fma(x2, -0.0539682540f, 0.133333333f), -0.333333333f), x);
  return a < 0.3f ? small : copysign(large, x);
}

// Vectors: the ones kernels use component-wise.
WM_BUILTIN float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
WM_BUILTIN float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
WM_BUILTIN float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
WM_BUILTIN float2 mad(float2 a, float2 b, float2 c) { return (float2)(mad(a.x, b.x, c.x), mad(a.y, b.y, c.y)); }
WM_BUILTIN float4 mad(float4 a, float4 b, float4 c) {
  return (float4)(mad(a.x, b.x, c.x), mad(a.y, b.y, c.y), mad(a.z, b.z, c.z), mad(a.w, b.w, c.w));
}
WM_BUILTIN float4 fmin(float4 a, float4 b) {
  return (float4)(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z), fmin(a.w, b.w));
}
WM_BUILTIN float4 fmax(float4 a, float4 b) {
  return (float4)(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z), fmax(a.w, b.w));
}
WM_BUILTIN float4 clamp(float4 x, float low, float high) {
  return (float4)(clamp(x.x, low, high), clamp(x.y, low, high), clamp(x.z, low, high), clamp(x.w, low, high));
}
