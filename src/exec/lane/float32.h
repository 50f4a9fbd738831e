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

// What all results go through: .ftz, .sat, the one NaN.
template <bool Ftz, bool Sat>
WM_LANE float finish(float x) {
  if constexpr (Sat) return saturate<true>(flush<Ftz>(x));
  return canonical(flush<Ftz>(x));
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
  if constexpr (R == Rounding::rn) return finish<Ftz, Sat>(x * y);
  return finish<Ftz, Sat>(narrow<float, R>(static_cast<double>(x) * static_cast<double>(y)));
}
template <Rounding R, bool Ftz, bool Sat>
WM_LANE float fma32(float a, float b, float c) {
  const float x = flush<Ftz>(a), y = flush<Ftz>(b), z = flush<Ftz>(c);
  if constexpr (R == Rounding::rn) return finish<Ftz, Sat>(std::fma(x, y, z));
  return finish<Ftz, Sat>(narrow<float, R>(directed_sum<R>(static_cast<double>(x) * static_cast<double>(y), z)));
}

template <Rounding R, bool Ftz>
WM_LANE float div32(float a, float b) {
  const float x = flush<Ftz>(a), y = flush<Ftz>(b);
  if constexpr (R == Rounding::rn) return finish<Ftz, false>(x / y);
  const double n = x, d = y, quotient = n / d;
  const double rest = std::fma(-quotient, d, n);
  return finish<Ftz, false>(narrow<float, R>(force_odd(quotient, d < 0 ? -rest : rest)));
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
