// f32 arithmetic of one lane in every rounding. Rounding to nearest is the host's own; the directed ones round an exact
// or odd double once.
#pragma once

#include <cmath>

#include "exec/lane/formats.h"

namespace wm::exec {

// A sum of exactly zero is negative when rounding down, unless both terms are positive zeros.
template <Rounding R>
WM_LANE double directed_sum(double a, double b) {
  const double sum = add_odd(a, b);
  if constexpr (R != Rounding::rm) return sum;
  const std::uint64_t sign = (bits_of(a) | bits_of(b)) & kSign<double>;
  return sum == 0 ? from_bits<double>(sign) : sum;
}

// Applied to all results: .ftz, .sat, the canonical NaN.
template <bool Ftz, bool Sat>
WM_LANE float finish(float x) {
  if constexpr (Sat) return saturate<true>(flush<Ftz>(x));
  return canonical(flush<Ftz>(x));
}

// .ftz examines a result with unbounded exponent: a magnitude below the smallest normal number becomes zero, even if
// rounding to a subnormal would have rounded it up. A copy scaled by 2^40 decides.
WM_LANE float flush_tiny(float result, float scaled) {
  const bool tiny = magnitude(scaled) < bits_of(0x1p-86F);
  return from_bits<float>(tiny ? bits_of(result) & kSign<float> : bits_of(result));
}
template <bool Ftz, Rounding R>
WM_LANE double flush_tiny(double value) {
  if constexpr (!Ftz) return value;
  // From where on a size rounds to the smallest normal number, to nearest and away from zero.
  const double nearest = 0x1p-126 - 0x1p-151, away = 0x1p-126 - 0x1p-150;
  const double size = from_bits<double>(magnitude(value));
  const bool outwards = (R == Rounding::rm && value < 0) || (R == Rounding::rp && value > 0);
  const bool tiny = R == Rounding::rn ? size < nearest : outwards ? size <= away : size < 0x1p-126;
  return tiny ? from_bits<double>(bits_of(value) & kSign<double>) : value;
}

template <Rounding R, bool Ftz, bool Sat>
WM_LANE float add32(float a, float b) {
  const float x = flush<Ftz>(a), y = flush<Ftz>(b);
  if constexpr (R == Rounding::rn) return finish<Ftz, Sat>(x + y);
  return finish<Ftz, Sat>(narrow<float, R>(directed_sum<R>(x, y)));
}
template <Rounding R, bool Ftz, bool Sat>
WM_LANE float sub32(float a, float b) {
  return add32<R, Ftz, Sat>(a, -b);
}
template <Rounding R, bool Ftz, bool Sat>
WM_LANE float mul32(float a, float b) {
  const float x = flush<Ftz>(a), y = flush<Ftz>(b);
  if constexpr (R == Rounding::rn && Ftz) return finish<false, Sat>(flush_tiny(x * y, (x * 0x1p40F) * y));
  if constexpr (R == Rounding::rn) return finish<Ftz, Sat>(x * y);
  return finish<Ftz, Sat>(narrow<float, R>(flush_tiny<Ftz, R>(static_cast<double>(x) * static_cast<double>(y))));
}
template <Rounding R, bool Ftz, bool Sat>
WM_LANE float fma32(float a, float b, float c) {
  const float x = flush<Ftz>(a), y = flush<Ftz>(b), z = flush<Ftz>(c);
  if constexpr (R == Rounding::rn && Ftz)
    return finish<false, Sat>(flush_tiny(std::fma(x, y, z), std::fma(x * 0x1p40F, y, z * 0x1p40F)));
  if constexpr (R == Rounding::rn) return finish<Ftz, Sat>(std::fma(x, y, z));
  const double sum = directed_sum<R>(static_cast<double>(x) * static_cast<double>(y), z);
  return finish<Ftz, Sat>(narrow<float, R>(flush_tiny<Ftz, R>(sum)));
}

template <Rounding R, bool Ftz>
WM_LANE float div32(float a, float b) {
  const float x = flush<Ftz>(a), y = flush<Ftz>(b);
  if constexpr (R == Rounding::rn && Ftz) return finish<false, false>(flush_tiny(x / y, (x * 0x1p40F) / y));
  if constexpr (R == Rounding::rn) return finish<Ftz, false>(x / y);
  const double n = x, d = y, quotient = n / d;
  const double rest = std::fma(-quotient, d, n);
  return finish<Ftz, false>(narrow<float, R>(flush_tiny<Ftz, R>(force_odd(quotient, d < 0 ? -rest : rest))));
}
template <Rounding R, bool Ftz>
WM_LANE float rcp32(float a) {
  return div32<R, Ftz>(1.0F, a);
}
template <Rounding R, bool Ftz>
WM_LANE float sqrt32(float a) {
  const float x = flush<Ftz>(a);
  if constexpr (R == Rounding::rn) return finish<Ftz, false>(std::sqrt(x));
  const double root = std::sqrt(static_cast<double>(x));
  return finish<Ftz, false>(narrow<float, R>(force_odd(root, std::fma(-root, root, static_cast<double>(x)))));
}

}  // namespace wm::exec
