// sin, cos, log2, exp2, tanh in double with a relative error below 2^-40: far inside what PTX asks of its
// approximations, and the same bits on every host, since nothing but +, -, *, / and comparisons takes part.
#pragma once

#include "exec/lane/formats.h"

namespace wm::exec {

// To the nearest integer, for |x| below 2^51.
WM_LANE double nearest_integer(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

WM_LANE double power_of_two(int exponent) {
  return from_bits<double>(static_cast<std::uint64_t>(exponent + kBias<double>) << 52);
}

// 2^x = 2^n * e^(f ln 2), n the nearest integer: the series to the tenth power. The argument is cut to where the result
// is neither zero nor infinite in f32.
WM_LANE double exp2_of(double x) {
  const double clipped = x < -300.0 ? -300.0 : x > 300.0 ? 300.0 : x;
  const double whole = nearest_integer(clipped);
  const double t = (clipped - whole) * 0.69314718055994530942;
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
  const bool number = clipped == clipped;
  const double result = sum * power_of_two(static_cast<int>(number ? whole : 0.0));
  return number ? result : x;
}

// x = 2^n * m with m around 1; log m = 2 atanh((m - 1) / (m + 1)). For finite x above zero.
WM_LANE double log2_of(double x) {
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t root_half = 0x3fe6a09e667f3bcdULL;  // sqrt(1/2)
  const std::uint64_t steps = (bits - root_half) >> 52;
  const double m = from_bits<double>(bits - (steps << 52));
  const double n = static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(steps << 20)) >> 20);
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
  int quarter;
  double angle;
};
WM_LANE Turn turn_of(double x) {
  const double turns = x * 0.15915494309189533577;
  const double near = turns < 0x1p40 && turns > -0x1p40 ? turns : 0.0;
  const double part = near - nearest_integer(near);
  const double quarter = nearest_integer(part * 4.0);
  return {static_cast<int>(quarter), (part - quarter * 0.25) * 6.28318530717958647692};
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
  const int quarter = (turn.quarter + Quarters) & 3;
  const double sine = sine_series(turn.angle), cosine = cosine_series(turn.angle);
  const double value = (quarter & 1) != 0 ? cosine : sine;
  return (quarter & 2) != 0 ? -value : value;
}

// Near zero the series, elsewhere 1 - 2 / (e^2x + 1).
WM_LANE double tanh_of(double x) {
  const double small = x - x * x * x * (1.0 / 3.0);
  const double large = 1.0 - 2.0 / (exp2_of(x * 2.88539008177792681472) + 1.0);
  return x < 0.001 && x > -0.001 ? small : large;
}

}  // namespace wm::exec
