// The floating-point formats of PTX: how each lies in its bits, and how an exact value is rounded into it.
//
// Directed roundings never touch the host's rounding mode: a result is computed in double so that it is exact, or,
// where that is not possible, forced to odd (its last bit says "and a little more"), and `narrow` rounds it once.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "exec/lane/rows.h"

namespace wm::exec {

enum class Rounding : std::uint8_t { rn, rz, rm, rp, rna };

// 16-bit and smaller formats are carried as their bits.
struct Half {
  std::uint16_t bits = 0;
};
struct Brain {  // bf16
  std::uint16_t bits = 0;
};
struct Tf32 {  // a float with 10 bits of fraction
  std::uint32_t bits = 0;
};
struct E4m3 {  // no infinity; all ones is the NaN
  std::uint8_t bits = 0;
};
struct E5m2 {
  std::uint8_t bits = 0;
};

// kFraction: stored bits of the significand; kNan: the NaN of an operation without a result.
template <typename T>
struct Layout;
template <>
struct Layout<double> {
  static constexpr int kFraction = 52, kExponent = 11;
  static constexpr std::uint64_t kNan = 0xfff8000000000000ULL;
};
template <>
struct Layout<float> {
  static constexpr int kFraction = 23, kExponent = 8;
  static constexpr std::uint32_t kNan = 0x7fffffffU;
};
template <>
struct Layout<Tf32> {
  static constexpr int kFraction = 10, kExponent = 8;
  static constexpr std::uint32_t kNan = 0x7fffe000U;
};
template <>
struct Layout<Half> {
  static constexpr int kFraction = 10, kExponent = 5;
  static constexpr std::uint16_t kNan = 0x7fffU;
};
template <>
struct Layout<Brain> {
  static constexpr int kFraction = 7, kExponent = 8;
  static constexpr std::uint16_t kNan = 0x7fffU;
};
template <>
struct Layout<E5m2> {
  static constexpr int kFraction = 2, kExponent = 5;
  static constexpr std::uint8_t kNan = 0x7fU;
};
template <>
struct Layout<E4m3> {
  static constexpr int kFraction = 3, kExponent = 4;
  static constexpr std::uint8_t kNan = 0x7fU;
};

template <typename T>
inline constexpr int kBias = (1 << (Layout<T>::kExponent - 1)) - 1;
template <typename T>
inline constexpr Bits<T> kSign = static_cast<Bits<T>>(Bits<T>{1} << (sizeof(T) * 8 - 1));
template <typename T>
inline constexpr Bits<T> kInfinity = static_cast<Bits<T>>(((Bits<T>{1} << Layout<T>::kExponent) - 1)
                                                          << (sizeof(T) * 8 - 1 - Layout<T>::kExponent));
template <typename T>
inline constexpr Bits<T> kSmallestNormal = static_cast<Bits<T>>(Bits<T>{1}
                                                                << (sizeof(T) * 8 - 1 - Layout<T>::kExponent));

template <typename T>
WM_LANE Bits<T> bits_of(T x) {
  return std::bit_cast<Bits<T>>(x);
}
template <typename T>
WM_LANE T from_bits(Bits<T> bits) {
  return std::bit_cast<T>(bits);
}
template <typename T>
WM_LANE Bits<T> magnitude(T x) {
  return static_cast<Bits<T>>(bits_of(x) & static_cast<Bits<T>>(~kSign<T>));
}
template <typename T>
WM_LANE bool is_nan(T x) {
  return magnitude(x) > kInfinity<T>;
}

// Subnormals to zero of the same sign.
template <bool Ftz, typename T>
WM_LANE T flush(T x) {
  if constexpr (!Ftz) return x;
  return magnitude(x) < kSmallestNormal<T> ? from_bits<T>(static_cast<Bits<T>>(bits_of(x) & kSign<T>)) : x;
}

// The one NaN that arithmetic gives.
template <typename T>
WM_LANE T canonical(T x) {
  if constexpr (std::is_floating_point_v<T>) return x == x ? x : from_bits<T>(Layout<T>::kNan);
  return is_nan(x) ? from_bits<T>(Layout<T>::kNan) : x;
}

// f64 arithmetic propagates a NaN: quiet, with its sign and payload.
WM_LANE double quiet(double nan) { return from_bits<double>(bits_of(nan) | 0x0008000000000000ULL); }
// A result of f64 arithmetic: the last operand here that is a NaN, quietly; else the one NaN of an operation that has
// no result; else the result.
template <typename... Operand>
WM_LANE double settled(double result, Operand... operands) {
  result = canonical(result);
  ((result = operands != operands ? quiet(operands) : result), ...);
  return result;
}

// .sat: to [+0, 1], NaN to +0.
template <bool Sat, typename T>
WM_LANE T saturate(T x) {
  if constexpr (!Sat) return x;
  const auto one =
      static_cast<Bits<T>>(static_cast<std::uint64_t>(kBias<T>) << (sizeof(T) * 8 - 1 - Layout<T>::kExponent));
  const Bits<T> bits = bits_of(x);
  const Bits<T> high = bits > one ? one : bits;
  return from_bits<T>(bits > kInfinity<T> ? Bits<T>{0} : high);  // negative or NaN compare above infinity
}

// .relu: negative to +0; a NaN is the canonical NaN already.
template <bool Relu, typename T>
WM_LANE T rectify(T x) {
  if constexpr (!Relu) return x;
  return (bits_of(x) & kSign<T>) != 0 ? from_bits<T>(Bits<T>{0}) : x;
}

WM_LANE double widen(double x) { return x; }
WM_LANE double widen(float x) { return x; }
WM_LANE double widen(Tf32 x) { return from_bits<float>(x.bits); }
WM_LANE double widen(Brain x) { return from_bits<float>(static_cast<std::uint32_t>(x.bits) << 16); }
// Moves the fields to their places in a float; the product with 2^112 corrects the exponent, of subnormals too.
WM_LANE float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t rest = (bits & 0x7fffU) << 13;
  const float scaled = from_bits<float>(rest) * 0x1p112F;
  const std::uint32_t special = 0x7f800000U | rest;
  return from_bits<float>(((bits & 0x7c00U) == 0x7c00U ? special : bits_of(scaled)) | sign);
}
WM_LANE double widen(Half x) { return half_to_float(x.bits); }
WM_LANE double widen(E5m2 x) { return half_to_float(static_cast<std::uint16_t>(x.bits << 8)); }
WM_LANE double widen(E4m3 x) {
  const std::uint32_t sign = (x.bits & 0x80U) << 24;
  const float scaled = from_bits<float>((x.bits & 0x7fU) << 20) * 0x1p120F;
  return from_bits<float>(((x.bits & 0x7fU) == 0x7fU ? 0x7fc00000U : bits_of(scaled)) | sign);
}

// `sum`, the nearest double to the exact sum + error, with its last bit set when the error is not zero: rounding that
// to fewer bits gives the same result as rounding the exact value.
WM_LANE double force_odd(double sum, double error) {
  std::uint64_t bits = bits_of(sum);
  const bool inexact = error < 0 || error > 0;
  const bool away = (error > 0) == (sum > 0);
  const std::uint64_t moved = away ? bits | 1U : (bits - 1) | 1U;
  bits = inexact && (bits & 1U) == 0 ? moved : bits;
  return from_bits<double>(bits);
}

// The exact error of the rounded sum of a and b.
WM_LANE double sum_error(double a, double b, double sum) {
  const double part = sum - a;
  return (a - (sum - part)) + (b - part);
}

WM_LANE double add_odd(double a, double b) {
  const double sum = a + b;
  return force_odd(sum, sum_error(a, b, sum));
}

// Whether `rest` of a unit of 2 * half moves the kept bits up.
template <Rounding R>
WM_LANE bool rounds_up(bool negative, std::uint64_t kept, std::uint64_t rest, std::uint64_t half) {
  if constexpr (R == Rounding::rn) return rest > half || (rest == half && (kept & 1U) != 0);
  if constexpr (R == Rounding::rna) return rest >= half;
  if constexpr (R == Rounding::rm) return negative && rest != 0;
  if constexpr (R == Rounding::rp) return !negative && rest != 0;
  return false;
}

// The result of an overflow: infinity, or the largest finite number if the rounding mode is towards zero.
template <Rounding R>
WM_LANE bool overflows_to_infinity(bool negative) {
  if constexpr (R == Rounding::rz) return false;
  if constexpr (R == Rounding::rm) return negative;
  if constexpr (R == Rounding::rp) return !negative;
  return true;
}

// Rounds a double, exact or forced to odd, to the nearest value of a narrower format in the direction R.
// Finite: .satfinite, too large a value becomes the largest finite one, of either sign.
template <typename T, Rounding R, bool Finite = false>
WM_LANE T narrow(double value) {
  static_assert(!std::is_same_v<T, double>, "a double holds what it is given");
  const int fraction = Layout<T>::kFraction;
  const int lowest = 1 - kBias<T>;  // exponent of the smallest normal number
  const bool has_infinity = !std::is_same_v<T, E4m3>;
  const std::uint64_t infinity =
      has_infinity ? ((std::uint64_t{1} << Layout<T>::kExponent) - 1) << fraction : Layout<T>::kNan;
  const int unused = static_cast<int>(sizeof(T)) * 8 - 1 - Layout<T>::kExponent - fraction;  // tf32 leaves 13 bits

  const std::uint64_t bits = bits_of(value);
  const bool negative = (bits >> 63) != 0;
  const std::uint64_t size = bits & ~kSign<double>;
  const int exponent = static_cast<int>(size >> 52) - kBias<double>;
  const std::uint64_t significand = (size & 0xfffffffffffffULL) | 0x10000000000000ULL;
  const int below = exponent < lowest ? lowest - exponent : 0;
  const int lost = 52 - fraction + (below > fraction + 2 ? fraction + 2 : below);
  const std::uint64_t kept = significand >> lost;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << lost) - 1);
  const std::uint64_t up = rounds_up<R>(negative, kept, rest, std::uint64_t{1} << (lost - 1)) ? 1 : 0;
  const auto base = static_cast<std::uint64_t>(below != 0 ? 0 : exponent - lowest) << fraction;
  std::uint64_t result = base + kept + up;
  const bool to_infinity = !Finite && has_infinity && overflows_to_infinity<R>(negative);
  result = result >= infinity ? (to_infinity ? infinity : infinity - 1) : result;
  result = exponent > kBias<T> + 1 ? (to_infinity ? infinity : infinity - 1) : result;
  result = size == 0 ? 0 : result;
  result = size == kInfinity<double> ? (Finite ? infinity - 1 : infinity) : result;
  const auto sign = static_cast<Bits<T>>(negative ? kSign<T> : Bits<T>{0});
  const auto packed = static_cast<Bits<T>>(static_cast<Bits<T>>(result << unused) | sign);
  return from_bits<T>(size > kInfinity<double> ? Layout<T>::kNan : packed);
}

// The common case in one instruction of the host.
template <>
WM_LANE float narrow<float, Rounding::rn, false>(double value) {
  return canonical(static_cast<float>(value));
}

}  // namespace wm::exec
