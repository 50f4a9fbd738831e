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
#include <cstring>
#include <type_traits>

#include "exec/lane/formats.h"
#include "exec/lane/rows.h"

namespace wm::exec {

inline constexpr std::size_t kTensorColumns = 8, kColumnsAtOnce = 4;

// The exponent of zero: below the sum of any two others, and any sum with it is below kZeroTerm.
inline constexpr int kNoExponent = -400, kZeroTerm = -260;

inline constexpr int kFloatFraction = 23;

// Vectors of the compiler: left to itself it vectorises over k, and vectors wider than the host has are compared and
// converted one element at a time; both cost more than they save.
using FourFloats = float __attribute__((vector_size(16)));
using FourInts = int __attribute__((vector_size(16)));
using FourUnsigned = unsigned __attribute__((vector_size(16)));
using EightShorts = std::int16_t __attribute__((vector_size(16)));
using FourShorts = std::int16_t __attribute__((vector_size(8)));
using FourWords = std::uint16_t __attribute__((vector_size(8)));

template <typename Vector, typename T>
WM_LANE Vector load_vector(const T* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// Converts values of format V, eight of 16 bits or four of 32 at a time, to floats and to the exponents that they are
// stored with; subnormals have that of the smallest normal number. Remembers whether all of them were finite.
template <typename V>
class Converter {
 public:
  static constexpr std::size_t kAtOnce = 16 / sizeof(V);

  WM_LANE void convert(const Bits<V>* from, float* values, std::int16_t* exponents) {
    const auto bits = load_vector<Values>(from);
    if constexpr (sizeof(V) == 2) {
      note<EightShorts>(std::bit_cast<EightShorts>(bits) & 0x7fff, exponents);
      store_values(from, values);
      store_values(from + 4, values + 4);
    } else {
      note<FourInts>(std::bit_cast<FourInts>(bits) & 0x7fffe000, exponents);
      const FourUnsigned kept = bits & 0xffffe000U;
      std::memcpy(values, &kept, sizeof kept);
    }
  }

  [[nodiscard]] bool all_finite() const {
    constexpr int kInfinite = ((1 << Layout<V>::kExponent) - 1) << kFraction;
    bool finite = true;
    for (std::size_t i = 0; i < kAtOnce; ++i) finite &= largest_[i] < kInfinite;
    return finite;
  }

 private:
  using Values = std::conditional_t<sizeof(V) == 2, EightShorts, FourUnsigned>;
  using Signed = std::conditional_t<sizeof(V) == 2, EightShorts, FourInts>;
  static constexpr int kFraction = std::is_same_v<V, Tf32> ? 23 : Layout<V>::kFraction;

  // `sizes`: the bits of the values without their signs.
  template <typename Vector>
  WM_LANE void note(const Vector& sizes, std::int16_t* exponents) {
    largest_ = sizes > largest_ ? sizes : largest_;
    const Vector field = sizes >> kFraction;
    const Vector exponent = (field < 1 ? Vector{} + 1 : field) - kBias<V>;
    const Vector known = sizes == 0 ? Vector{} + kNoExponent : exponent;
    if constexpr (sizeof(V) == 2) {
      std::memcpy(exponents, &known, sizeof known);
    } else {
      const auto narrow = __builtin_convertvector(known, FourShorts);
      std::memcpy(exponents, &narrow, sizeof narrow);
    }
  }

  WM_LANE static void store_values(const Bits<V>* from, float* values) {
    const auto wide = __builtin_convertvector(load_vector<FourWords>(from), FourUnsigned);
    FourUnsigned bits = wide << 16;
    if constexpr (std::is_same_v<V, Half>) {
      const auto size = std::bit_cast<FourFloats>((wide & 0x7fffU) << 13) * 0x1p112F;
      bits = std::bit_cast<FourUnsigned>(size) | (bits & 0x80000000U);
    }
    std::memcpy(values, &bits, sizeof bits);
  }

  Signed largest_ = {};
};

// The exponents of four floats.
WM_LANE FourInts float_exponents(const FourFloats& x) {
  const FourInts size = std::bit_cast<FourInts>(x) & 0x7fffffff;
  const FourInts field = size >> kFloatFraction;
  const FourInts exponent = (field < 1 ? FourInts{1, 1, 1, 1} : field) - 127;
  return size == 0 ? FourInts{kNoExponent, kNoExponent, kNoExponent, kNoExponent} : exponent;
}

// Four columns of a row of the result before they are rounded: the exact sums of the truncated terms, in units of
// 2^(largest - 25).
struct TensorSums {
  FourInts total;
  FourInts largest;  // exponents
  FourInts outside;  // not 0: the column is out of range, and its sum is meaningless
};

// Row `a` of K elements, times K x 4 of the matrix `b`, plus four columns of the row `c`. `largest` are the largest
// exponents of the products.
template <std::size_t K>
WM_LANE TensorSums tensor_sums(const float* a, const FourFloats* b, const FourFloats& c, FourInts ec,
                               FourInts largest) {
  constexpr int kLow = -90, kHigh = 100;  // so that all scales are normal numbers
  constexpr int kLargest = 1 << 30;       // largest sum that stays an int when it is rounded
  largest = ec > largest ? ec : largest;
  const FourInts outside = ((largest < kLow) & (largest > kZeroTerm)) | (largest > kHigh);
  largest = largest < kLow ? FourInts{kLow, kLow, kLow, kLow} : largest;
  const auto scale = std::bit_cast<FourFloats>((127 + 25 - largest) << kFloatFraction);
  // A scaled product is below 2^27, so that 16 of them fit an int; the sum with c may wrap.
  static_assert(K <= 16);
  FourInts sum = {};
#pragma GCC unroll 16
  for (std::size_t k = 0; k < K; ++k) sum += __builtin_convertvector(b[k] * a[k] * scale, FourInts);
  const FourInts start = __builtin_convertvector(c * scale, FourInts);
  const FourInts total = std::bit_cast<FourInts>(std::bit_cast<FourUnsigned>(sum) + std::bit_cast<FourUnsigned>(start));
  const FourInts wrapped = ((sum ^ total) & (start ^ total)) < 0;
  return {total, largest, outside | wrapped | (total >= kLargest) | (total <= -kLargest)};
}

// Towards zero.
WM_LANE FourFloats truncated(const TensorSums& sums) {
  const FourInts size = sums.total < 0 ? -sums.total : sums.total;
  const auto nearest = __builtin_convertvector(size, FourFloats);
  const FourInts too_far = __builtin_convertvector(nearest, FourInts) > size;  // -1 where the nearest value is larger
  const auto unit = std::bit_cast<FourFloats>((127 - 25 + sums.largest) << kFloatFraction);
  const auto value = std::bit_cast<FourFloats>(std::bit_cast<FourInts>(nearest) + too_far) * unit;
  return std::bit_cast<FourFloats>(std::bit_cast<FourInts>(value) | (sums.total & static_cast<int>(0x80000000U)));
}

// One of the sums, exactly.
WM_LANE double exact_sum(const TensorSums& sums, std::size_t column) {
  const auto exponent = static_cast<std::uint64_t>(1023 - 25 + sums.largest[column]);
  return static_cast<double>(sums.total[column]) * from_bits<double>(exponent << 52);
}

}  // namespace wm::exec
