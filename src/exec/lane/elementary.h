// sin, cos, log2, exp2, tanh in double with a relative error below 2^-40: far below the error PTX
// allows, and the same bits on every host, since only +, -, *, / and comparisons are used.
#pragma once

#include "exec/lane/formats.h"

namespace wm::exec {

// Added to a number below 2^51, this leaves the nearest integer in the low bits: all stays in 64-bit lanes, where a
// conversion to int would break the loop's vectors.
inline constexpr double kShift = 0x1.8p52;

WM_LANE double nearest_integer(double x) { return (x + kShift) - kShift; }

// 2^x = 2^n * e^(f ln 2), n the nearest integer: the series to the tenth power. The argument is cut to where the result
// is neither zero nor infinite in f32.
WM_LANE double exp2_of(double x) {
  const double clipped = x < -300.0 ? -300.0 : x > 300.0 ? 300.0 : x;
  const double shifted = clipped + kShift, integral = shifted - kShift;
  const double t = (clipped - integral) * 0.69314718055994530942;
  double sum = 1.0 / 3628800.0;
  sum = sum * t + 1.0 / 362880.0;
  sum = sum * t + 1.0 / 40320.0;
  sum = sum * t + 1.0 / 5040.0;
  sum = sum * t + 1.0 / 720.0;
  sum = sum * t + 1.0 / 120.0;
  sum = sum * t + 1.0 / 24.0;
  sum = sum * t + 1.0 / 6.0;
  sum = sum * t + 0.5;
  sum = sum * t + 1.0;
  sum = sum * t + 1.0;
  const double power = from_bits<double>((bits_of(shifted) + static_cast<std::uint64_t>(kBias<double>)) << 52);
  return clipped == clipped ? sum * power : x;
}

// x = 2^n * m with m around 1; log m = 2 atanh((m - 1) / (m + 1)). For finite x above zero.
WM_LANE double log2_of(double x) {
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t root_half = 0x3fe6a09e667f3bcdULL;  // sqrt(1/2)
  const std::uint64_t steps = (bits - root_half) >> 52;
  const double m = from_bits<double>(bits - (steps << 52));
  // The exponent, biased by 2048 against a borrow, as the low bits of a double that is known.
  const double n = from_bits<double>(0x4330000000000000ULL | ((steps + 2048) & 0xfffU)) - (0x1p52 + 2048.0);
  const double s = (m - 1.0) / (m + 1.0), square = s * s;
  double sum = 1.0 / 17.0;
  sum = sum * square + 1.0 / 15.0;
  sum = sum * square + 1.0 / 13.0;
  sum = sum * square + 1.0 / 11.0;
  sum = sum * square + 1.0 / 9.0;
  sum = sum * square + 1.0 / 7.0;
  sum = sum * square + 1.0 / 5.0;
  sum = sum * square + 1.0 / 3.0;
  sum = sum * square + 1.0;
  return n + s * sum * 2.88539008177792681472;  // 2 / ln 2
}

// Around the circle: quarter turns, and the angle that is left, at most an eighth of a turn. Beyond 2^40 turns a float
// has no fraction that a double could find.
struct Turn {
  std::uint64_t quarter;
  double angle;
};
WM_LANE Turn turn_of(double x) {
  const double turns = x * 0.15915494309189533577;
  const double near = turns < 0x1p40 && turns > -0x1p40 ? turns : 0.0;
  const double part = near - nearest_integer(near);
  const double shifted = part * 4.0 + kShift;
  return {bits_of(shifted), (part - (shifted - kShift) * 0.25) * 6.28318530717958647692};
}
WM_LANE double sine_series(double t) {
  const double square = t * t;
  double sum = 1.0 / 6227020800.0;
  sum = sum * square - 1.0 / 39916800.0;
  sum = sum * square + 1.0 / 362880.0;
  sum = sum * square - 1.0 / 5040.0;
  sum = sum * square + 1.0 / 120.0;
  sum = sum * square - 1.0 / 6.0;
  return t + t * square * sum;
}
WM_LANE double cosine_series(double t) {
  const double square = t * t;
  double sum = -1.0 / 87178291200.0;
  sum = sum * square + 1.0 / 479001600.0;
  sum = sum * square - 1.0 / 3628800.0;
  sum = sum * square + 1.0 / 40320.0;
  sum = sum * square - 1.0 / 720.0;
  sum = sum * square + 1.0 / 24.0;
  sum = sum * square - 0.5;
  return 1.0 + square * sum;
}
// The sine, `quarters` quarter turns on.
template <int Quarters>
WM_LANE double sine_of(double x) {
  const Turn turn = turn_of(x);
  const std::uint64_t quarter = turn.quarter + Quarters;
  const double sine = sine_series(turn.angle), cosine = cosine_series(turn.angle);
  const double value = (quarter & 1U) != 0 ? cosine : sine;
  return from_bits<double>(bits_of(value) ^ (quarter & 2U) << 62);
}

// Near zero the series, elsewhere 1 - 2 / (e^2x + 1).
WM_LANE double tanh_of(double x) {
  const double small = x - x * x * x * (1.0 / 3.0);
  const double large = 1.0 - 2.0 / (exp2_of(x * 2.88539008177792681472) + 1.0);
  return x < 0.001 && x > -0.001 ? small : large;
}

}  // namespace wm::exec
