// Products of matrices of f16, bf16 and tf32 with the sums of a tensor core, many at a time.
//
// The sum of a tensor core: every term is truncated two bits below the last place of an f32 as large as the largest
// term, the truncated terms are added exactly, and the sum is rounded once. Here the products of a row with all columns
// are formed together in f32, where they are exact, scaled so that the last bit that counts is 1, and converted to
// integers, which truncates them. Numbers that are not finite, and sums near the ends of the range of f32, are left to
// the caller.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "exec/lane/formats.h"
#include "exec/lane/rows.h"

namespace wm::exec {

inline constexpr int kTensorColumns = 8, kColumnsAtOnce = 4;

// The exponent of zero: below the sum of any two others.
inline constexpr int kNoExponent = -400;

// The exponent that a value of format V is stored with; subnormals have that of the smallest normal number.
template <typename V>
WM_LANE int stored_exponent(float x) {
  constexpr int kSmallest = 1 - kBias<V>;
  const int exponent = static_cast<int>(bits_of(x) >> 23 & 0xffU) - 127;
  const int clamped = exponent < kSmallest ? kSmallest : exponent;
  return (bits_of(x) & 0x7fffffffU) == 0 ? kNoExponent : clamped;
}

// Four columns at a time, as vectors of the compiler: left to itself it vectorises over k, and vectors wider than the
// host has are compared and converted one element at a time; both cost more than they save.
using FourFloats = float __attribute__((vector_size(16)));
using FourInts = int __attribute__((vector_size(16)));
using FourUnsigned = unsigned __attribute__((vector_size(16)));

// Four columns of a row of the result before they are rounded: the exact sums of the truncated terms, in units of
// 2^(largest - 25).
struct TensorSums {
  FourInts total;
  FourInts largest;  // exponents
  FourInts outside;  // not 0: the column is out of range, and its sum is meaningless
};

// Row `a` of K elements with exponents `ea`, times K x 4 of the matrix `b`, plus four columns of the row `c`.
template <int K>
WM_LANE TensorSums tensor_sums(const float* a, const int* ea, const FourFloats* b, const FourInts* eb,
                               const FourFloats& c, const FourInts& ec) {
  constexpr int kLow = -90, kHigh = 100;  // so that all scales are normal numbers
  constexpr int kLargest = 1 << 30;       // largest sum that stays an int when it is rounded
  FourInts largest = ec;
  for (int k = 0; k < K; ++k) {
    const FourInts exponent = eb[k] + ea[k];
    largest = exponent > largest ? exponent : largest;
  }
  const auto scale = std::bit_cast<FourFloats>((127 + 25 - largest) << 23);
  // A scaled product is below 2^27, so that 16 of them fit an int; the sum with c may wrap.
  static_assert(K <= 16);
  FourInts sum = {};
  for (int k = 0; k < K; ++k) sum += __builtin_convertvector(b[k] * a[k] * scale, FourInts);
  const FourInts start = __builtin_convertvector(c * scale, FourInts);
  const FourInts total = std::bit_cast<FourInts>(std::bit_cast<FourUnsigned>(sum) + std::bit_cast<FourUnsigned>(start));
  const FourInts wrapped = ((sum ^ total) & (start ^ total)) < 0;
  return {total, largest, (largest < kLow) | (largest > kHigh) | wrapped | (total >= kLargest) | (total <= -kLargest)};
}

// Towards zero.
WM_LANE FourFloats truncated(const TensorSums& sums) {
  const FourInts size = sums.total < 0 ? -sums.total : sums.total;
  const auto nearest = __builtin_convertvector(size, FourFloats);
  const FourInts too_far = __builtin_convertvector(nearest, FourInts) > size;  // -1 where the nearest value is larger
  const auto unit = std::bit_cast<FourFloats>((127 - 25 + sums.largest) << 23);
  const auto value = std::bit_cast<FourFloats>(std::bit_cast<FourInts>(nearest) + too_far) * unit;
  return std::bit_cast<FourFloats>(std::bit_cast<FourInts>(value) | (sums.total & static_cast<int>(0x80000000U)));
}

// One of the sums, exactly.
WM_LANE double exact_sum(const TensorSums& sums, std::size_t column) {
  const auto exponent = static_cast<std::uint64_t>(1023 - 25 + sums.largest[column]);
  return static_cast<double>(sums.total[column]) * from_bits<double>(exponent << 52);
}

}  // namespace wm::exec
