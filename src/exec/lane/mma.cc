// mma: a product of small matrices whose elements are spread over the warp.
//
// Products are exact. PTX leaves the order and the width of the sums to the hardware: here they equal those of an
// H200 bit by bit. Integers are exact, and wrap or saturate as asked.
#include "exec/lane/mma.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "exec/lane/form.h"
#include "exec/lane/mma_float.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

struct Shape {
  int m, n, k, products;
};

// Up to 16 x 32; m8n8k4 keeps its four products side by side.
template <typename T>
using Matrix = std::array<T, 4 * 16 * 32>;

template <typename T>
T& at(Matrix<T>& matrix, Element e, int columns, int rows) {
  const int index = (e.product * rows + e.row) * columns + e.column;
  return matrix[static_cast<std::size_t>(index)];
}

// One value of a fragment: the i-th of `per` in a register.
template <typename V, int Per>
V value_of(std::span<const RegisterRow> registers, const Frame& frame, int lane, int i) {
  using Register = Bits<std::conditional_t<sizeof(V) == 8, double, float>>;
  const Register word = frame.source<Register>(registers[static_cast<std::size_t>(i / Per)])[lane];
  return from_bits<V>(static_cast<Bits<V>>(word >> (i % Per * static_cast<int>(sizeof(V)) * 8)));
}

template <typename V>
auto number(V x) {
  if constexpr (std::is_integral_v<V>)
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
double aligned_sum(const double* terms, const int* exponents, int count) {
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

// One element of the result: row x of A and column y of B, both of k neighbours, plus the accumulator.
template <typename V, typename D, bool Quad, typename T>
D sum_of(const T* x, const T* y, int k, T before, bool finite) {
  if constexpr (std::is_integral_v<V>) {
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
    double terms[17] = {before};
    int exponents[17] = {exponent_of<D>(before)};
    for (int i = 0; i < k; ++i) {
      terms[i + 1] = x[i] * y[i];
      exponents[i + 1] = exponent_of<V>(x[i]) + exponent_of<V>(y[i]);
    }
    const double sum = aligned_sum(terms, exponents, k + 1);
    if constexpr (std::is_same_v<D, float>) {
      const float result = narrow<float, Rounding::rz>(sum);  // an overflow becomes infinity
      return sum < 0x1p128 && sum > -0x1p128 ? result : narrow<float, Rounding::rn>(sum);
    } else {
      return narrow<D, Rounding::rn>(sum);
    }
  }
}

// V, W: elements of A and B; D: of C and D; Per…: how many of them a register holds.
template <typename V, typename W, typename D, int PerV, int PerD, bool Quad = false>
struct Fragments {
  Layout32 a, b, c;
  Shape shape;

  void multiply(const Operands& operands, const Frame& frame) const {
    using T = decltype(number(V{}));
    const auto register_count = [&](int elements, int per) {
      return static_cast<std::size_t>(elements / kLanes * shape.products / per);
    };
    const std::size_t sums = register_count(shape.m * shape.n, PerD), as = register_count(shape.m * shape.k, PerV);
    const std::size_t bs = register_count(shape.k * shape.n, PerV);
    const auto registers = operands.more;
    Matrix<T> left, right, total;
    gather<V, PerV>(registers.subspan(sums, as), frame, a, shape.k, shape.m, left);
    gather<W, PerV>(registers.subspan(sums + as, bs), frame, b, shape.k, shape.n, right);
    gather<D, PerD>(registers.subspan(sums + as + bs, sums), frame, c, shape.n, shape.m, total);
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
          const D sum = sum_of<V, D, Quad>(x, y, shape.k, before, finite);
          row[lane] |= static_cast<Register>(bits_of(sum)) << (part * static_cast<int>(sizeof(D)) * 8);
        }
      }
      blend(frame.destination<Register>(registers[r]), row, frame.active);
    }
  }
};

constexpr Layout32 kSums = rows_over_lanes<2, 2>, kSums8 = rows_over_lanes<2, 1>;

// m16n8kK of f16, bf16 and tf32, Per elements of A and B a register.
template <typename V, typename D, int Per, int PerD, int K>
class TensorProduct {
 public:
  static void run(const Operands& operands, const Frame& frame) {
    TensorProduct product;
    const auto registers = operands.more;
    product.gather<V, Per>(registers.subspan(kSumRegisters, kARegisters), frame, kATable, product.a_.data());
    product.gather<V, Per>(registers.subspan(kSumRegisters + kARegisters, kBRegisters), frame, kBTable,
                           reinterpret_cast<float*>(product.b_.data()));
    product.gather<D, PerD>(registers.last(kSumRegisters), frame, kStartTable,
                            reinterpret_cast<float*>(product.c_.data()));
    product.find_exponents();
    product.multiply();
    product.scatter(registers.first(kSumRegisters), frame);
  }

 private:
  static constexpr int kM = 16, kN = kTensorColumns, kSides = kN / kColumnsAtOnce;
  static constexpr std::size_t kSumCount = kM * kN / kLanes, kACount = kM * K / kLanes, kBCount = K * kN / kLanes;
  static constexpr std::size_t kSumRegisters = kSumCount / PerD, kARegisters = kACount / Per,
                               kBRegisters = kBCount / Per;
  static constexpr auto kATable = element_table<rows_over_lanes<Per, 2>, kACount, K>();
  static constexpr auto kBTable = by_side(element_table<rows_over_lanes<Per, 1>, kBCount, kN, true>(), K);
  static constexpr auto kSumTable = element_table<rows_over_lanes<2, 2>, kSumCount, kN>();
  static constexpr auto kStartTable = by_side(kSumTable, kM);

  template <typename F>
  WM_LANE static float as_float(std::uint32_t bits) {
    if constexpr (std::is_same_v<F, Half>) return half_to_float(static_cast<std::uint16_t>(bits));
    if constexpr (std::is_same_v<F, Brain>) return from_bits<float>(bits << 16);
    if constexpr (std::is_same_v<F, Tf32>) return from_bits<float>(bits & 0xffffe000U);
    return from_bits<float>(bits);
  }

  template <typename F, int PerF, std::size_t Count>
  void gather(std::span<const RegisterRow> registers, const Frame& frame, const ElementTable<Count>& table, float* to) {
    for (std::size_t i = 0; i < Count; ++i) {
      const auto* words = frame.source<std::uint32_t>(registers[i / PerF]);
      const auto shift = static_cast<std::uint32_t>(i % PerF * 16);
      float values[kLanes];
      std::uint32_t largest = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        values[lane] = as_float<F>(words[lane] >> shift);
        const std::uint32_t size = bits_of(values[lane]) & 0x7fffffffU;
        largest = size > largest ? size : largest;
      }
      finite_ = finite_ && largest < 0x7f800000U;
      for (std::size_t lane = 0; lane < kLanes; ++lane) to[table[i][lane]] = values[lane];
    }
  }

  void find_exponents() {
    for (std::size_t i = 0; i < a_.size(); ++i) ea_[i] = stored_exponent<V>(a_[i]);
    for (std::size_t i = 0; i < b_.size(); ++i)
      for (std::size_t n = 0; n < kColumnsAtOnce; ++n) eb_[i][n] = stored_exponent<V>(b_[i][n]);
    for (std::size_t i = 0; i < c_.size(); ++i)
      for (std::size_t n = 0; n < kColumnsAtOnce; ++n) ec_[i][n] = stored_exponent<D>(c_[i][n]);
  }

  void multiply() {
    FourInts exceptions = {};
    for (std::size_t row = 0; row < kM; ++row)
      for (std::size_t side = 0; side < kSides; ++side) {
        const std::size_t at = side * kM + row;
        const TensorSums sums =
            tensor_sums<K>(&a_[row * K], &ea_[row * K], &b_[side * K], &eb_[side * K], c_[at], ec_[at]);
        exceptions |= sums.outside;
        outside_[at] = sums.outside;
        if constexpr (std::is_same_v<D, float>) {
          const FourFloats rounded = truncated(sums);
          std::memcpy(&result_[row * kN + side * kColumnsAtOnce], &rounded, sizeof rounded);
        } else {
          for (std::size_t n = 0; n < kColumnsAtOnce; ++n)
            result_[row * kN + side * kColumnsAtOnce + n] = narrow<D, Rounding::rn>(exact_sum(sums, n));
        }
      }
    if (finite_ && (exceptions[0] | exceptions[1] | exceptions[2] | exceptions[3]) == 0) return;
    for (std::size_t row = 0; row < kM; ++row)
      for (std::size_t n = 0; n < kN; ++n)
        if (!finite_ || outside_[n / kColumnsAtOnce * kM + row][n % kColumnsAtOnce] != 0)
          result_[row * kN + n] = one_by_one(row, n);
  }

  D one_by_one(std::size_t row, std::size_t n) const {
    double x[K], y[K];
    for (std::size_t k = 0; k < K; ++k)
      x[k] = a_[row * K + k], y[k] = b_[n / kColumnsAtOnce * K + k][n % kColumnsAtOnce];
    return sum_of<V, D, false>(x, y, K, static_cast<double>(c_[n / kColumnsAtOnce * kM + row][n % kColumnsAtOnce]),
                               false);
  }

  void scatter(std::span<const RegisterRow> registers, const Frame& frame) const {
    for (std::size_t r = 0; r < registers.size(); ++r) {
      std::uint32_t row[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        row[lane] = 0;
        for (std::size_t part = 0; part < PerD; ++part)
          row[lane] |= static_cast<std::uint32_t>(bits_of(result_[kSumTable[r * PerD + part][lane]])) << part * 16;
      }
      blend(frame.destination<std::uint32_t>(registers[r]), row, frame.active);
    }
  }

  // The left four columns of b and c lie before the right ones.
  alignas(64) std::array<float, kM * K> a_;
  alignas(64) std::array<int, kM * K> ea_;
  std::array<FourFloats, K * kSides> b_;
  std::array<FourInts, K * kSides> eb_;
  std::array<FourFloats, kM * kSides> c_;
  std::array<FourInts, kM * kSides> ec_, outside_;
  std::array<D, kM * kN> result_;
  bool finite_ = true;
};

// Halves: two neighbours a register, so runs of two.
template <typename V, typename D, int PerD, int K>
void halves(const Operands& operands, const Frame& frame) {
  TensorProduct<V, D, 2, PerD, K>::run(operands, frame);
}
template <int K>
void tf32(const Operands& operands, const Frame& frame) {
  TensorProduct<Tf32, float, 1, 1, K>::run(operands, frame);
}
void doubles(const Operands& operands, const Frame& frame) {
  Fragments<double, double, double, 1, 1>{rows_over_lanes<1, 1>, rows_over_lanes<1, 1>, kSums8, {8, 8, 4, 1}}.multiply(
      operands, frame);
}
template <typename D, int PerD, bool RowA, bool RowB>
void quads(const Operands& operands, const Frame& frame) {
  Fragments<Half, Half, D, 2, PerD, true>{RowA ? quad_lane_row : quad_lane_column,
                                          RowB ? quad_lane_column : quad_lane_row,
                                          PerD == 1 ? quad_sums32 : quad_lane_row,
                                          {8, 8, 4, 4}}
      .multiply(operands, frame);
}
template <typename V, typename W, int M, int K>
void bytes(const Operands& operands, const Frame& frame) {
  Fragments<V, W, std::int32_t, 4, 1>{
      rows_over_lanes<4, M / 8>, rows_over_lanes<4, 1>, M == 8 ? kSums8 : kSums, {M, 8, K, 1}}
      .multiply(operands, frame);
}

template <typename V, int K>
LaneOp halves_of(Type sums) {
  if (sums == Type::f32) return halves<V, float, 1, K>;
  if constexpr (std::is_same_v<V, Half>)
    if (sums == Type::f16) return halves<V, Half, 2, K>;
  return nullptr;
}

LaneOp quads_of(Type sums, bool row_a, bool row_b) {
  return by_flag(row_a, [&](auto a) {
    return by_flag(row_b, [&](auto b) -> LaneOp {
      if (sums == Type::f32) return quads<float, 1, decltype(a)::value, b()>;
      return sums == Type::f16 ? quads<Half, 2, decltype(a)::value, b()> : nullptr;
    });
  });
}

template <int M, int K>
LaneOp bytes_of(Type a, Type b) {
  if (a == Type::s8 && b == Type::s8) return bytes<std::int8_t, std::int8_t, M, K>;
  if (a == Type::s8 && b == Type::u8) return bytes<std::int8_t, std::uint8_t, M, K>;
  if (a == Type::u8 && b == Type::s8) return bytes<std::uint8_t, std::int8_t, M, K>;
  return a == Type::u8 && b == Type::u8 ? bytes<std::uint8_t, std::uint8_t, M, K> : nullptr;
}

LaneOp of_shape(Form& form, Type sums, Type a, Type b) {
  const bool single = a == b && sums == form.type(3);
  if (form.take(Suffix::m16n8k16)) {
    if (a == Type::f16 && single) return halves_of<Half, 16>(sums);
    return a == Type::bf16 && single ? halves_of<Brain, 16>(sums) : bytes_of<16, 16>(a, b);
  }
  if (form.take(Suffix::m16n8k8) && single) {
    if (a == Type::f16) return halves_of<Half, 8>(sums);
    if (a == Type::bf16) return halves_of<Brain, 8>(sums);
    return a == Type::tf32 && sums == Type::f32 ? tf32<8> : nullptr;
  }
  if (form.take(Suffix::m16n8k4)) return single && a == Type::tf32 && sums == Type::f32 ? tf32<4> : nullptr;
  if (form.take(Suffix::m16n8k32)) return bytes_of<16, 32>(a, b);
  if (form.take(Suffix::m8n8k16)) return bytes_of<8, 16>(a, b);
  return nullptr;
}

// wmma of 16 x 16 results is two products of mma, for the left and the right eight columns, as the hardware executes
// it. The registers of a fragment are those of the products one after the other; fragments of f16 have twice as many
// registers as values, of which the upper half is not used.
template <LaneOp Half8, std::size_t Sums, std::size_t C, std::size_t A, std::size_t B, std::size_t Registers>
void tile(const Operands& operands, const Frame& frame) {
  const auto d = operands.more.first(2 * Sums), a = operands.more.subspan(2 * Sums, Registers);
  const auto b = operands.more.subspan(2 * Sums + Registers, Registers), c = operands.more.last(2 * C);
  for (std::size_t side = 0; side < 2; ++side) {
    std::array<RegisterRow, Sums + A + B + C> rows;
    auto to = std::copy_n(d.begin() + static_cast<std::ptrdiff_t>(side * Sums), Sums, rows.begin());
    to = std::copy_n(a.begin(), A, to);
    to = std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(side * B), B, to);
    std::copy_n(c.begin() + static_cast<std::ptrdiff_t>(side * C), C, to);
    Operands product = operands;
    product.more = rows;
    Half8(product, frame);
  }
}

LaneOp byte_tile(Type a, Type b) {
  using S = std::int8_t;
  using U = std::uint8_t;
  if (a == Type::s8)
    return b == Type::s8 ? tile<bytes<S, S, 16, 16>, 4, 4, 2, 1, 2> : tile<bytes<S, U, 16, 16>, 4, 4, 2, 1, 2>;
  return b == Type::s8 ? tile<bytes<U, S, 16, 16>, 4, 4, 2, 1, 2> : tile<bytes<U, U, 16, 16>, 4, 4, 2, 1, 2>;
}

}  // namespace

LaneOp tile_multiply(Form& form) {
  form.take(Suffix::sync), form.take(Suffix::aligned), form.take(Suffix::satfinite);
  while (form.take(Suffix::row) || form.take(Suffix::col)) continue;
  if (form.take(Suffix::m16n16k8)) return tile<tf32<8>, 4, 4, 4, 2, 4>;
  if (!form.take(Suffix::m16n16k16)) return nullptr;
  if (form.instruction().types.size() == 4) {
    if (form.type(0) == Type::s32) return byte_tile(form.type(1), form.type(2));
    return tile<halves<Brain, float, 1, 16>, 4, 4, 4, 2, 4>;
  }
  if (form.type(0) != form.type(1)) return nullptr;  // the accumulator has another type than the result
  return form.type(0) == Type::f32 ? tile<halves<Half, float, 1, 16>, 4, 4, 4, 2, 8>
                                   : tile<halves<Half, Half, 2, 16>, 2, 2, 4, 2, 8>;
}

LaneOp matrix_multiply(Form& form) {
  form.take(Suffix::sync), form.take(Suffix::aligned);
  const auto& suffixes = form.instruction().suffixes;
  const Type sums = form.type(0), a = form.type(1), b = form.type(2);
  const bool eight = form.take(Suffix::m8n8k4);
  // The layouts of A and B, in this order.
  std::array<bool, 2> row{};
  std::size_t seen = 0;
  for (const Suffix suffix : suffixes)
    if ((suffix == Suffix::row || suffix == Suffix::col) && seen < 2) row[seen++] = suffix == Suffix::row;
  if (seen != 2) return nullptr;
  while (form.take(Suffix::row) || form.take(Suffix::col)) continue;
  if (eight && a == Type::f16 && b == Type::f16 && sums == form.type(3)) return quads_of(sums, row[0], row[1]);
  if (!row[0] || row[1]) return nullptr;
  if (eight) return sums == Type::f64 && a == Type::f64 && b == Type::f64 ? doubles : nullptr;
  const bool integers = sums == Type::s32 && form.type(3) == Type::s32;
  if (integers) form.take(Suffix::satfinite);
  return of_shape(form, sums, a, b);
}

}  // namespace wm::exec
