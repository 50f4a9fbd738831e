// Products of the fragments of any shape, element by element.
//
// Products are exact. PTX leaves the order and the width of the sums to the hardware: here they are what an H200 does,
// to the bit. Integers are exact, and wrap or saturate as asked.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "exec/lane/formats.h"
#include "exec/lane/mma_layout.h"

namespace wm::exec {

struct Shape {
  int m, n, k, products;
};

// Up to 16 x 128; m8n8k4 keeps its four products side by side.
template <typename T>
using Matrix = std::array<T, 16 * 128>;

// Integers of four bits, eight in a register.
struct SignedNibble {
  std::int64_t value = 0;
};
struct UnsignedNibble {
  std::int64_t value = 0;
};
template <typename V>
inline constexpr bool kNibble = std::is_same_v<V, SignedNibble> || std::is_same_v<V, UnsignedNibble>;
template <typename V>
inline constexpr bool kInteger = std::is_integral_v<V> || kNibble<V>;

template <typename T>
T& at(Matrix<T>& matrix, Element e, int columns, int rows) {
  const int index = (e.product * rows + e.row) * columns + e.column;
  return matrix[static_cast<std::size_t>(index)];
}

// One value of a fragment: the i-th of `per` in a register.
template <typename V, int Per>
V value_of(std::span<const RegisterRow> registers, const Frame& frame, int lane, int i) {
  const RegisterRow row = registers[static_cast<std::size_t>(i / Per)];
  if constexpr (kNibble<V>) {
    const auto bits = static_cast<std::int64_t>(frame.source<std::uint32_t>(row)[lane] >> (i % Per * 4) & 0xfU);
    return {std::is_same_v<V, SignedNibble> && bits > 7 ? bits - 16 : bits};
  } else {
    using Register = Bits<std::conditional_t<sizeof(V) == 8, double, float>>;
    const Register word = frame.source<Register>(row)[lane];
    return from_bits<V>(static_cast<Bits<V>>(word >> (i % Per * static_cast<int>(sizeof(V)) * 8)));
  }
}

template <typename V>
auto number(V x) {
  if constexpr (kNibble<V>)
    return x.value;
  else if constexpr (std::is_integral_v<V>)
    return static_cast<std::int64_t>(x);
  else if constexpr (std::is_same_v<V, Tf32>)
    return widen(Tf32{x.bits & 0xffffe000U});
  else
    return widen(x);
}

template <typename V, int Per, typename T>
void gather(std::span<const RegisterRow> registers, const Frame& frame, Layout32 layout, int columns, int rows,
            Matrix<T>& matrix) {
  const int count = static_cast<int>(registers.size()) * Per;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < count; ++i)
      at(matrix, layout(lane, i), columns, rows) = number(value_of<V, Per>(registers, frame, lane, i));
}

// The exponent a value is stored with; subnormals have the smallest normal's. That of zero is below all others.
template <typename V>
int exponent_of(double x) {
  const int smallest = 1 - kBias<V>, none = -400;
  const int exponent = static_cast<int>(magnitude(x) >> 52) - kBias<double>;
  return x == 0 ? none : exponent < smallest ? smallest : exponent;
}

// Adds as the tensor cores do: every term is truncated two bits below the last place of an f32 as large as the largest
// term, and the truncated terms are added exactly.
inline double aligned_sum(const double* terms, const int* exponents, int count) {
  int largest = std::numeric_limits<int>::min();
  double plain = 0;
  for (int i = 0; i < count; ++i) {
    plain += terms[i];
    largest = exponents[i] > largest ? exponents[i] : largest;
  }
  if (!(plain - plain == 0) || largest < -399) return plain;
  // The last bit that counts, 2^(largest - 25), and its inverse: exact for every format that comes here.
  const double unit = from_bits<double>(static_cast<std::uint64_t>(kBias<double> + largest - 25) << 52);
  const double units = from_bits<double>(static_cast<std::uint64_t>(kBias<double> - largest + 25) << 52);
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<std::int64_t>(terms[i] * units);
  return static_cast<double>(sum) * unit;
}

// One element of the result: row x of A and column y of B, both of k neighbours, and what was there before.
template <typename V, typename C, typename D, bool Quad, typename T>
D sum_of(const T* x, const T* y, int k, T before, bool finite) {
  if constexpr (kInteger<V>) {
    std::int64_t sum = before;
    for (int i = 0; i < k; ++i) sum += x[i] * y[i];
    const std::int64_t low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    return static_cast<D>(!finite ? sum : sum < low ? low : sum > high ? high : sum);
  } else if constexpr (std::is_same_v<V, double>) {
    double sum = before;
    for (int i = 0; i < k; ++i) sum = settled(std::fma(x[i], y[i], sum), x[i], sum, y[i]);
    return sum;
  } else if constexpr (Quad) {
    // Current matrix units do not have this shape: fused products in f32, then the addition of c.
    const auto fused = [&](int i, float sum) {
      return std::fma(static_cast<float>(x[i]), static_cast<float>(y[i]), sum);
    };
    const auto product = [&](int i) { return static_cast<float>(x[i]) * static_cast<float>(y[i]); };
    const bool single = std::is_same_v<D, float>;
    const float sum = single ? fused(3, fused(2, fused(1, product(0)))) : fused(1, product(0)) + fused(3, product(2));
    return narrow<D, Rounding::rn>(static_cast<double>(sum + static_cast<float>(before)));
  } else {
    double terms[33] = {before};
    int exponents[33] = {exponent_of<C>(before)};
    for (int i = 0; i < k; ++i) {
      terms[i + 1] = x[i] * y[i];
      exponents[i + 1] = exponent_of<V>(x[i]) + exponent_of<V>(y[i]);
    }
    const double sum = aligned_sum(terms, exponents, k + 1);
    if constexpr (std::is_same_v<D, float>) {
      if (sum != 0 && std::abs(sum) < 0x1p-149) return 0;     // positive, whatever the sign of the sum
      const float result = narrow<float, Rounding::rz>(sum);  // an overflow becomes infinity
      return sum < 0x1p128 && sum > -0x1p128 ? result : narrow<float, Rounding::rn>(sum);
    } else {
      return narrow<D, Rounding::rn>(sum);
    }
  }
}

// V, W: elements of A and B; D: of C and D; Per…: how many of them a register holds.
template <typename V, typename W, typename D, int PerV, int PerD, bool Quad = false, typename C = D, int PerC = PerD>
struct Fragments {
  Layout32 a, b, c;
  Shape shape;

  void multiply(const Operands& operands, const Frame& frame) const {
    using T = decltype(number(V{}));
    const auto register_count = [&](int elements, int per) {
      return static_cast<std::size_t>(elements / kLanes * shape.products / per);
    };
    const std::size_t sums = register_count(shape.m * shape.n, PerD), as = register_count(shape.m * shape.k, PerV);
    const std::size_t bs = register_count(shape.k * shape.n, PerV), cs = register_count(shape.m * shape.n, PerC);
    const auto registers = operands.more;
    Matrix<T> left, right, total;
    gather<V, PerV>(registers.subspan(sums, as), frame, a, shape.k, shape.m, left);
    gather<W, PerV>(registers.subspan(sums + as, bs), frame, b, shape.k, shape.n, right);
    gather<C, PerC>(registers.subspan(sums + as + bs, cs), frame, c, shape.n, shape.m, total);
    scatter(registers.first(sums), frame, operands.immediate != 0, left, right, total);
  }

 private:
  template <typename T>
  void scatter(std::span<const RegisterRow> registers, const Frame& frame, bool finite, Matrix<T>& left,
               Matrix<T>& right, Matrix<T>& total) const {
    using Register = Bits<std::conditional_t<sizeof(D) == 8, double, float>>;
    for (std::size_t r = 0; r < registers.size(); ++r) {
      Register row[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        row[lane] = 0;
        for (int part = 0; part < PerD; ++part) {
          const Element e = c(lane, static_cast<int>(r) * PerD + part);
          const T before = at(total, e, shape.n, shape.m);
          const T* x = &at(left, {e.row, 0, e.product}, shape.k, shape.m);
          const T* y = &at(right, {e.column, 0, e.product}, shape.k, shape.n);
          const D sum = sum_of<V, C, D, Quad>(x, y, shape.k, before, finite);
          row[lane] |= static_cast<Register>(bits_of(sum)) << (part * static_cast<int>(sizeof(D)) * 8);
        }
      }
      blend(frame.destination<Register>(registers[r]), row, frame.active);
    }
  }
};

inline constexpr Layout32 kSums = rows_over_lanes<2, 2>, kSums8 = rows_over_lanes<2, 1>;

}  // namespace wm::exec
