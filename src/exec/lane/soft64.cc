#include "exec/lane/soft64.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace wm::exec {

namespace {

int leading_zeros(Uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

// Shifts right by `count`; the last bit is set if any bit shifted out was set.
Uint128 shift_right_odd(Uint128 x, int count) {
  if (count <= 0) return x;
  if (count > 127) return x != 0 ? 1 : 0;
  const Uint128 kept = x >> count;
  return (kept << count) != x ? kept | 1U : kept;
}

// The top bit to bit 125: room for one carry, and for the sum of two such.
Exact normalised(Exact value) {
  const int up = leading_zeros(value.significand) - 2;
  value.significand = up >= 0 ? value.significand << up : shift_right_odd(value.significand, -up);
  value.exponent -= up;
  return value;
}

bool away(Rounding rounding, bool negative, std::uint64_t kept, Uint128 rest, Uint128 half) {
  switch (rounding) {
    case Rounding::rn:
      return rest > half || (rest == half && (kept & 1U) != 0);
    case Rounding::rna:
      return rest >= half;
    case Rounding::rm:
      return negative && rest != 0;
    case Rounding::rp:
      return !negative && rest != 0;
    case Rounding::rz:
      break;
  }
  return false;
}

bool overflow_is_infinite(Rounding rounding, bool negative) {
  if (rounding == Rounding::rz) return false;
  return rounding == Rounding::rm ? negative : rounding == Rounding::rp ? !negative : true;
}

}  // namespace

Exact exact(double finite) {
  const std::uint64_t bits = bits_of(finite), size = magnitude(finite);
  const auto field = static_cast<int>(size >> 52);
  const std::uint64_t fraction = size & 0xfffffffffffffULL;
  return {(bits >> 63) != 0, std::max(field, 1) - 1075, field == 0 ? fraction : fraction | (std::uint64_t{1} << 52)};
}

Exact exact_product(double a, double b) {
  const Exact x = exact(a), y = exact(b);
  return {x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand};
}

Exact exact_sum(const Exact& a, const Exact& b, Rounding rounding) {
  const bool same_sign = a.negative == b.negative;
  if (a.significand == 0 && b.significand == 0)
    return {same_sign ? a.negative : rounding == Rounding::rm, a.exponent, 0};
  if (a.significand == 0) return b;
  if (b.significand == 0) return a;
  Exact x = normalised(a), y = normalised(b);
  if (x.exponent < y.exponent) std::swap(x, y);
  y.significand = shift_right_odd(y.significand, x.exponent - y.exponent);
  if (same_sign) return {x.negative, x.exponent, x.significand + y.significand};
  if (x.significand == y.significand) return {rounding == Rounding::rm, x.exponent, 0};
  if (x.significand < y.significand) return {y.negative, x.exponent, y.significand - x.significand};
  return {x.negative, x.exponent, x.significand - y.significand};
}

Exact exact_quotient(double a, double b) {
  const Exact x = exact(a), y = exact(b);
  if (x.significand == 0) return {x.negative != y.negative, 0, 0};
  // 128 bits over at most 53 leave at least 73 bits of quotient; a remainder becomes the last bit.
  const int up = leading_zeros(x.significand) - 1;
  const Uint128 dividend = x.significand << up;
  const Uint128 quotient = dividend / y.significand;
  const bool rest = quotient * y.significand != dividend;
  return {x.negative != y.negative, x.exponent - up - y.exponent - 1, quotient << 1 | (rest ? 1U : 0U)};
}

Exact exact_root(double a) {
  Exact x = exact(a);
  int up = leading_zeros(x.significand) - 2;
  if (((x.exponent - up) & 1) != 0) --up;
  Uint128 rest = x.significand << up, root = 0;
  for (Uint128 bit = static_cast<Uint128>(1) << 126; bit != 0; bit >>= 2) {
    const bool fits = rest >= root + bit;
    if (fits) rest -= root + bit;
    root = fits ? (root >> 1) + bit : root >> 1;
  }
  return {false, (x.exponent - up) / 2 - 1, root << 1 | (rest != 0 ? 1U : 0U)};
}

double round_to_double(const Exact& value, Rounding rounding) {
  const std::uint64_t sign = value.negative ? kSign<double> : 0;
  if (value.significand == 0) return from_bits<double>(sign);
  const Exact x = normalised(value);  // top bit at 125
  const int exponent = x.exponent + 125;
  const int lost = 125 - 52 + std::max(0, -1022 - exponent);
  const Uint128 significand = lost > 127 ? 1 : x.significand;
  const int shift = std::min(lost, 127);
  const auto kept = static_cast<std::uint64_t>(significand >> shift);
  const Uint128 rest = significand - (static_cast<Uint128>(kept) << shift);
  const Uint128 half = static_cast<Uint128>(1) << (shift - 1);
  const std::uint64_t base = exponent < -1022 ? 0 : static_cast<std::uint64_t>(exponent + 1022) << 52;
  std::uint64_t bits = base + kept + (away(rounding, value.negative, kept, rest, half) ? 1U : 0U);
  if (exponent > 1023 || bits >= kInfinity<double>)
    bits = overflow_is_infinite(rounding, value.negative) ? kInfinity<double> : kInfinity<double> - 1;
  return from_bits<double>(bits | sign);
}

}  // namespace wm::exec
